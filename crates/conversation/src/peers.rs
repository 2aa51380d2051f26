//! Who is connected to a conversation, at this node and at the others.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::event::EndpointEvent;
use crate::node_message::NodeMessage;
use crate::participant::Participant;
use crate::shared_log::SharedLog;

/// How long the clients of a node count that announces them no more.
const REMOTE_LIFETIME: Duration = Duration::from_secs(20);

/// The clients of a conversation, and the people at them. Their names and numbers are published where several people share it.
pub struct Peers {
    log: Arc<SharedLog>,
    /// The name of this node.
    node: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_shared: bool,
    /// The number of clients at this node.
    count: usize,
    /// The people at them, and the number of their clients.
    people: BTreeMap<Participant, usize>,
    /// The clients of other nodes, by the names of these.
    others: HashMap<String, RemotePeers>,
    /// What was published last.
    published: (usize, Vec<Participant>),
}

struct RemotePeers {
    count: usize,
    people: Vec<Participant>,
    announced: Instant,
}

impl Peers {
    /// The clients of a conversation that one person uses, unless it `is_shared`.
    pub fn new(log: Arc<SharedLog>, node: &str, is_shared: bool) -> Self {
        let state = State { is_shared, ..State::default() };
        Self { log, node: node.to_owned(), state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if several people use the conversation.
    pub fn is_shared(&self) -> bool {
        self.state().is_shared
    }

    /// Several people use the conversation, from now on.
    pub fn set_shared(&self) {
        self.state().is_shared = true;
    }

    /// The number of clients that are connected to this node.
    pub fn own_count(&self) -> usize {
        self.state().count
    }

    /// The number of clients of all nodes.
    pub fn count(&self) -> usize {
        self.state().all_count()
    }

    /// The names of the people who are connected to any node, if several use the conversation.
    pub fn names(&self) -> Vec<String> {
        let mut state = self.state();
        match state.is_shared {
            true => state.all_people().into_iter().map(|person| person.name).collect(),
            false => Vec::new(),
        }
    }

    /// Adds a client of this node.
    pub fn add(&self, person: Option<&Participant>) {
        {
            let mut state = self.state();
            state.count += 1;
            if let Some(person) = person {
                *state.people.entry(person.clone()).or_default() += 1;
            }
        }
        self.on_changed();
    }

    /// Removes a client of this node.
    pub fn remove(&self, person: Option<&Participant>) {
        {
            let mut state = self.state();
            state.count -= 1;
            if let Some(clients) = person.and_then(|person| state.people.get_mut(person)) {
                *clients -= 1;
            }
            state.people.retain(|_, clients| *clients > 0);
        }
        self.on_changed();
    }

    fn on_changed(&self) {
        self.announce();
        self.publish();
    }

    /// Another node has announced its clients.
    pub fn on_announced(&self, node: String, count: usize, people: Vec<Participant>) {
        {
            let mut state = self.state();
            state.is_shared = true;
            state.others.insert(node, RemotePeers { count, people, announced: Instant::now() });
        }
        self.publish();
    }

    /// Announces the clients of this node to the others again, and forgets those of nodes that are gone.
    pub fn on_tick(&self) {
        if self.own_count() > 0 {
            self.announce();
        }
        self.publish();
    }

    /// Announces the clients of this node to the others.
    pub fn announce(&self) {
        let message = {
            let state = self.state();
            state.is_shared.then(|| NodeMessage::Peers {
                node: self.node.clone(),
                count: state.count,
                participants: state.people.keys().cloned().collect(),
            })
        };
        if let Some(message) = message {
            self.log.send_to_nodes(&message);
        }
    }

    /// Publishes the number of clients and the names of the people if they have changed, where several people use the conversation.
    fn publish(&self) {
        let event = {
            let mut state = self.state();
            let peers = (state.all_count(), state.all_people());
            if !state.is_shared || state.published == peers {
                return;
            }
            state.published = peers.clone();
            let (count, people) = peers;
            let participants = people.into_iter().map(|person| person.name).collect();
            EndpointEvent::Peers { count, participants }
        };
        self.log.publish(event, None);
    }
}

impl State {
    fn remote(&mut self) -> impl Iterator<Item = &RemotePeers> {
        self.others.retain(|_, peers| peers.announced.elapsed() < REMOTE_LIFETIME);
        self.others.values()
    }

    fn all_count(&mut self) -> usize {
        self.count + self.remote().map(|peers| peers.count).sum::<usize>()
    }

    /// The people who are connected to any node, by name.
    fn all_people(&mut self) -> Vec<Participant> {
        let mut all: Vec<Participant> = self.people.keys().cloned().collect();
        all.extend(self.remote().flat_map(|peers| peers.people.iter().cloned()));
        all.sort();
        all.dedup_by(|one, two| one.subject == two.subject);
        all
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn person(name: &str) -> Participant {
        Participant { name: name.to_owned(), subject: name.to_lowercase() }
    }

    fn event_count(peers: &Peers) -> u64 {
        peers.log.lock().next_position()
    }

    #[tokio::test(start_paused = true)]
    async fn people_count_once_and_those_of_a_node_that_is_gone_no_more() {
        let peers = Peers::new(Arc::new(SharedLog::new(None)), "here", false);
        let (ada, bob) = (person("Ada"), person("Bob"));
        peers.add(Some(&ada));
        assert_eq!((event_count(&peers), peers.names()), (0, Vec::new()), "nobody else is there");
        peers.on_announced("there".to_owned(), 2, vec![ada.clone(), bob.clone()]);
        assert_eq!((peers.own_count(), peers.count()), (1, 3));
        assert_eq!(peers.names(), ["Ada", "Bob"]);
        let published = event_count(&peers);
        peers.on_tick();
        assert_eq!(event_count(&peers), published, "nothing has changed");
        advance(REMOTE_LIFETIME).await;
        peers.on_tick();
        assert_eq!((event_count(&peers), peers.count()), (published + 1, 1));
        peers.add(Some(&ada));
        peers.remove(Some(&ada));
        assert_eq!(peers.names(), ["Ada"], "another client of hers is left");
        peers.remove(Some(&ada));
        assert_eq!((peers.count(), peers.names()), (0, Vec::new()));
    }
}
