//! One attachment for as long as it lasts: connect, list, listen, connect again.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolwright_core::Registry;

use super::catalogue::Catalogue;
use super::child::Aside;
use super::connect::{Connection, Met};
use super::error::AttachError;
use super::link::{Link, Live, State};
use super::list::{Listing, list};
use super::plan::{Plan, Target};
use crate::import::chain;

/// How long to wait before the second try to connect again, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A connection that lasted this long was a good one.
const GOOD: Duration = Duration::from_secs(60);

/// How often a server may make us list its tools.
const LISTING_PAUSE: Duration = Duration::from_secs(1);

/// How long a person may take to authorize us.
const PATIENCE: Duration = Duration::from_secs(300);

/// All there is of one attachment.
pub(super) struct Shared {
    pub(super) plan: Plan,
    pub(super) registry: Registry,
    pub(super) link: Arc<Link>,
    catalogue: Mutex<Catalogue>,
    /// Told when the server's lists have changed.
    news: Arc<Notify>,
}

impl Shared {
    pub(super) fn new(plan: Plan, registry: &Registry) -> Arc<Self> {
        Arc::new(Self {
            link: Link::new(Arc::clone(&plan.name)),
            plan,
            registry: registry.clone(),
            catalogue: Mutex::default(),
            news: Arc::default(),
        })
    }

    pub(super) fn catalogue(&self) -> MutexGuard<'_, Catalogue> {
        self.catalogue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects, lists everything and shows it.
    pub(super) async fn connect(&self) -> Result<Connection, AttachError> {
        let mut after = self.plan.limits.connect;
        if let Target::Http { wire, .. } = &self.plan.target
            && wire.login.is_some()
        {
            after += PATIENCE;
        }
        let mut aside = Aside::default();
        let work = async {
            let connection = Connection::open(&self.plan, &self.news, &mut aside).await?;
            let listing = list(&self.plan, &connection.met, &self.link).await?;
            Ok::<_, AttachError>((connection, listing))
        };
        let done = tokio::time::timeout(after, work).await;
        let (connection, listing) = match done {
            Ok(done) => done?,
            Err(_) => {
                return Err(AttachError::TimedOut {
                    server: self.plan.name.to_string(),
                    after,
                    message: aside.told(),
                });
            }
        };
        self.show(listing)?;
        self.link.set(State::Up(Arc::new(Live {
            peer: connection.met.peer.clone(),
            ears: Arc::clone(&connection.met.ears),
            revision: connection.met.info.protocol_version.to_string(),
            implementation: connection.met.implementation(),
        })));
        Ok(connection)
    }

    pub(super) fn show(&self, listing: Listing) -> Result<(), AttachError> {
        let mut catalogue = self.catalogue();
        let shown = catalogue.sync(&self.plan, &self.link, &self.registry, listing);
        drop(catalogue);
        let hidden = shown.map_err(|source| AttachError::Pins {
            server: self.plan.name.to_string(),
            source,
        })?;
        for listed in &hidden {
            let why = listed.hidden.as_deref().unwrap_or_default();
            tracing::warn!(server = &*self.plan.name, "{why}");
            if let Some(hears) = &self.plan.on_hidden {
                hears(listed);
            }
        }
        Ok(())
    }

    /// Lists again; what cannot be shown leaves everything as it was, with a note.
    ///
    /// `Err` says why the server cannot even be asked.
    async fn relist(&self, met: &Met) -> Result<(), String> {
        let listed =
            tokio::time::timeout(self.plan.limits.connect, list(&self.plan, met, &self.link));
        let shown = match listed.await {
            Ok(listed) => listed.and_then(|listing| self.show(listing)),
            Err(_) => Err(AttachError::TimedOut {
                server: self.plan.name.to_string(),
                after: self.plan.limits.connect,
                message: String::new(),
            }),
        };
        match shown {
            Ok(()) => {}
            Err(error @ (AttachError::Connect { .. } | AttachError::TimedOut { .. })) => {
                return Err(chain(&error));
            }
            Err(error) => {
                let note = format!("its changed lists were not read: {}", chain(&error));
                self.catalogue().note(note);
            }
        }
        self.link.touch();
        Ok(())
    }

    /// Takes everything out of the registry, for good.
    pub(super) fn close(&self) {
        self.catalogue().close(&self.registry);
        self.link.set(State::Detached);
    }
}

/// Keeps the connection until it is told to end.
pub(super) async fn supervise(
    shared: Arc<Shared>,
    mut connection: Connection,
    end: CancellationToken,
) {
    let mut tries = 0;
    loop {
        let since = Instant::now();
        let listening = Listening::start(&shared, &connection.met);
        let why = keep(&shared, &mut connection, &end).await;
        drop(listening);
        let Some(why) = why else {
            return connection.close().await;
        };
        shared.link.set(State::Down(why.into()));
        connection.close().await;
        if since.elapsed() >= GOOD {
            tries = 0;
        }
        connection = loop {
            let pause = pause(tries);
            tries += 1;
            let again = async {
                tokio::time::sleep(pause).await;
                shared.connect().await
            };
            tokio::select! {
                () = end.cancelled() => return,
                connected = again => match connected {
                    Ok(connection) => break connection,
                    Err(error) => shared.link.set(State::Down(chain(&error).into())),
                },
            }
        };
    }
}

/// Serves a connection; returns why it ended, or `None` if it was told to.
async fn keep(
    shared: &Shared,
    connection: &mut Connection,
    end: &CancellationToken,
) -> Option<String> {
    let mut quiet = Instant::now();
    loop {
        let news = async {
            tokio::time::sleep_until(quiet).await;
            shared.news.notified().await;
        };
        tokio::select! {
            () = end.cancelled() => return None,
            why = connection.ended() => return Some(why),
            why = shared.link.broken() => return Some(why),
            () = news => {}
        }
        quiet = Instant::now() + LISTING_PAUSE;
        tokio::select! {
            () = end.cancelled() => return None,
            listed = shared.relist(&connection.met) => if let Err(why) = listed {
                return Some(why);
            }
        }
    }
}

/// How long to wait before the next try: longer each time, and never the same for two.
fn pause(tries: u32) -> Duration {
    if tries == 0 {
        return Duration::ZERO;
    }
    let whole = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(tries - 1));
    let whole = whole.min(LONGEST_PAUSE);
    // Hashes of nothing differ by their random keys.
    let chance = RandomState::new().build_hasher().finish() % 1000;
    whole.mul_f64(0.5 + chance as f64 / 1000.0)
}

/// Hears of changes where there is no session to hear of them in.
struct Listening(Option<AbortHandle>);

impl Listening {
    fn start(shared: &Shared, met: &Met) -> Self {
        let offers = &met.info.capabilities;
        let tools = offers.tools.as_ref().and_then(|tools| tools.list_changed);
        let prompts = offers
            .prompts
            .as_ref()
            .and_then(|prompts| prompts.list_changed);
        let (tools, prompts) = (tools == Some(true), prompts == Some(true));
        if !met.is_stateless() || !(tools || prompts) {
            return Self(None);
        }
        let mut filter = SubscriptionFilter::builder();
        if tools {
            filter = filter.tools_list_changed();
        }
        if prompts {
            filter = filter.prompts_list_changed();
        }
        let filter = filter.build();
        let (peer, news) = (met.peer.clone(), Arc::clone(&shared.news));
        let task = tokio::spawn(async move {
            let mut tries = 1;
            loop {
                if let Ok(mut heard) = peer.listen(filter.clone()).await {
                    while let Ok(Some(_)) = heard.next().await {
                        tries = 1;
                        news.notify_one();
                    }
                    // What changed meanwhile was not heard.
                    news.notify_one();
                }
                tokio::time::sleep(pause(tries)).await;
                tries += 1;
            }
        });
        Self(Some(task.abort_handle()))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit_and_differ() {
        assert_eq!(pause(0), Duration::ZERO);
        for tries in [1, 2, 8, 1000] {
            let whole = FIRST_PAUSE
                .saturating_mul(2_u32.saturating_pow(tries - 1))
                .min(LONGEST_PAUSE);
            let pause = pause(tries);
            assert!(
                pause >= whole / 2 && pause <= whole * 2,
                "{tries}: {pause:?}"
            );
        }
        let pauses: std::collections::HashSet<Duration> = (0..50).map(|_| pause(5)).collect();
        assert!(pauses.len() > 1);
    }
}
