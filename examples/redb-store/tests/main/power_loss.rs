//! The power fails at every write: what was acknowledged is there afterwards, and nothing is there in part.

use std::io;
use std::sync::{Arc, Mutex};

use redb_store::RedbStore;
use test_support_store::fixtures::{LONG, ids, inbox_message, user_entry};
use toolwright::chat::{Append, Store, StoreError};

/// A disk with a cache: what was not synced is lost in part when the power fails.
#[derive(Clone, Debug, Default)]
struct Disk(Arc<Mutex<Contents>>);

#[derive(Debug, Default)]
struct Contents {
    /// What programs read.
    bytes: Vec<u8>,
    /// What is there for sure.
    synced: Vec<u8>,
    /// Writes since the last sync.
    cached: Vec<(usize, Vec<u8>)>,
    /// The number of operations until the power fails; afterwards, each is an error.
    left: Option<usize>,
}

impl Contents {
    fn spend(&mut self) -> io::Result<()> {
        match &mut self.left {
            Some(0) => Err(io::Error::other("there is no power")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

fn write_at(bytes: &mut Vec<u8>, offset: usize, data: &[u8]) {
    bytes.resize(bytes.len().max(offset + data.len()), 0);
    bytes.get_mut(offset..offset + data.len()).unwrap().copy_from_slice(data);
}

impl Disk {
    fn fail_after(&self, operations: usize) {
        self.0.lock().unwrap().left = Some(operations);
    }

    /// Returns the disk as it is after the power was away: with some of the writes that were not synced, which the seed chooses.
    fn restart(&self, mut seed: u64) -> Self {
        let contents = self.0.lock().unwrap();
        let mut bytes = contents.synced.clone();
        for (offset, data) in &contents.cached {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if seed >> 63 == 1 {
                write_at(&mut bytes, *offset, data);
            }
        }
        let contents = Contents { synced: bytes.clone(), bytes, ..Contents::default() };
        Self(Arc::new(Mutex::new(contents)))
    }
}

impl redb::StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let (contents, offset) = (self.0.lock().unwrap(), usize::try_from(offset).unwrap());
        let read = contents.bytes.get(offset..offset + out.len());
        out.copy_from_slice(read.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let (mut contents, len) = (self.0.lock().unwrap(), usize::try_from(len).unwrap());
        contents.spend()?;
        contents.bytes.resize(len, 0);
        // The size of a file is metadata, which file systems write in order.
        contents.synced.resize(len, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut contents = self.0.lock().unwrap();
        contents.spend()?;
        contents.synced = contents.bytes.clone();
        contents.cached.clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let (mut contents, offset) = (self.0.lock().unwrap(), usize::try_from(offset).unwrap());
        contents.spend()?;
        write_at(&mut contents.bytes, offset, data);
        contents.cached.push((offset, data.to_vec()));
        Ok(())
    }
}

/// What was acknowledged before the power failed.
#[derive(Default)]
struct Acknowledged {
    pushed: usize,
    taken: usize,
    term: u64,
    swapped: usize,
}

/// Accepts messages and moves each into the journal together with an answer, until the power fails.
async fn work(store: &RedbStore, acknowledged: &mut Acknowledged) -> Result<(), StoreError> {
    let state = store.shared_state();
    for n in 0..6 {
        let lease = store.acquire("room", "me", LONG).await?.unwrap();
        acknowledged.term = lease.term;
        let id = format!("m{n}");
        let position = store.push_inbox("room", &inbox_message(&id, "Hi"), 9).await?.unwrap();
        acknowledged.pushed += 1;
        let entries = [user_entry(&*id, 1, "Hi"), user_entry(format!("a{n}"), 2, "Hello")];
        store.append(&lease, Append::new(&entries).taking(&[position])).await?;
        acknowledged.taken += 1;
        let (before, after) = ((n > 0).then(|| (n - 1).to_string()), n.to_string());
        let swap = state.swap("pin", "a", before.as_deref(), Some(&after), None.into());
        assert!(swap.await.map_err(|error| StoreError::new(error.to_string()))?);
        acknowledged.swapped += 1;
    }
    Ok(())
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_power_failure_at_any_write() {
    let mut failures = 0;
    for operations in 0.. {
        let disk = Disk::default();
        let store = RedbStore::with_backend(disk.clone()).unwrap();
        disk.fail_after(operations);
        let mut acknowledged = Acknowledged::default();
        let end = work(&store, &mut acknowledged).await;
        let disks = [1, 2, 3].map(|seed| disk.restart(seed * (operations as u64 + 1)));
        drop(store);
        for disk in disks {
            check(&RedbStore::with_backend(disk).unwrap(), &acknowledged, operations).await;
        }
        if end.is_ok() {
            break;
        }
        failures += 1;
    }
    assert!(failures > 50, "{failures}");
}

async fn check(store: &RedbStore, acknowledged: &Acknowledged, operations: usize) {
    let Acknowledged { pushed, taken, term, swapped } = *acknowledged;
    let (entries, inbox) = (store.load("room").await.unwrap(), store.inbox("room").await.unwrap());
    // Message and answer, in order, each once.
    let stored = entries.len() / 2;
    let expected: Vec<String> =
        (0..stored).flat_map(|n| [format!("m{n}"), format!("a{n}")]).collect();
    assert_eq!(ids(&entries), expected, "{operations}");
    assert!((taken..=taken + 1).contains(&stored), "{operations}: {stored}, {taken}");
    // A message is in the inbox or in the journal.
    let known = stored + inbox.len();
    assert!((pushed..=pushed + 1).contains(&known), "{operations}: {known}, {pushed}");
    assert!(inbox.iter().all(|item| item.id == format!("m{stored}")), "{operations}");
    let status = store.lease_status("room").await.unwrap();
    assert!(status.term >= term && status.holder.is_none(), "{operations}: {status:?}");
    let value = store.shared_state().get("pin", "a").await.unwrap();
    let number = value.map_or(0, |value| value.parse::<usize>().unwrap() + 1);
    assert!((swapped..=swapped + 1).contains(&number), "{operations}: {number}, {swapped}");
}
