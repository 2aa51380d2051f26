//! Values and counters: the three operations that a store implements.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use redb::{ReadableTable as _, ReadableTableMetadata as _};
use toolwright::{SharedState, SharedStateFuture, SharedValue, TimeToLive, check_shared_key};

use crate::conversation::Writing;
use crate::database::{Fault, Inner, SHARED};

/// The number of values at which expired ones are looked for, each time that it is a multiple of this.
const SWEEP_INTERVAL: u64 = 128;

/// The shared state of a store.
pub(crate) struct RedbSharedState(pub(crate) Arc<Inner>);

/// A value in the table, as long as it is borrowed.
type Row<'v> = (Option<u64>, &'v str);

/// Milliseconds since 1970: values outlive the process, so their clock is that of the machine.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, whole_millis)
}

fn whole_millis(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

fn is_valid(row: &Row<'_>, now: u64) -> bool {
    row.0.is_none_or(|expires| expires > now)
}

impl SharedState for RedbSharedState {
    fn get<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        Box::pin(async move {
            check_shared_key(space, key)?;
            let id = (space.to_owned(), key.to_owned());
            let read = self.0.read(move |reading| {
                let table = reading.0.open_table(SHARED)?;
                let stored = table.get((&*id.0, &*id.1))?;
                let valid = stored.as_ref().map(|it| it.value()).filter(|it| is_valid(it, now()));
                Ok(valid.map(|(_, value)| value.to_owned()))
            });
            Ok(read.await?)
        })
    }

    fn swap<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        expected: Option<&'a str>,
        new: Option<&'a str>,
        ttl: TimeToLive,
    ) -> SharedStateFuture<'a, bool> {
        Box::pin(async move {
            check_shared_key(space, key)?;
            let id = (space.to_owned(), key.to_owned());
            let (expected, new) = (expected.map(str::to_owned), new.map(str::to_owned));
            let swap = Swap { id, expected, new, ttl };
            Ok(self.0.write(move |writing, _| swap.perform(writing)).await?)
        })
    }

    fn scan<'a>(
        &'a self,
        space: Option<&'a str>,
        prefix: &'a str,
        limit: usize,
    ) -> SharedStateFuture<'a, Vec<SharedValue>> {
        Box::pin(async move {
            check_shared_key(space.unwrap_or_default(), prefix)?;
            let (space, prefix) = (space.map(str::to_owned), prefix.to_owned());
            let scanned = self.0.read(move |reading| {
                let (table, now) = (reading.0.open_table(SHARED)?, now());
                let mut values = Vec::new();
                for stored in table.range((space.as_deref().unwrap_or_default(), &*prefix)..)? {
                    let (id, row) = stored?;
                    let ((known, key), row) = (id.value(), row.value());
                    let is_after = space
                        .as_deref()
                        .is_some_and(|space| known != space || !key.starts_with(&*prefix));
                    if is_after || values.len() == limit {
                        break;
                    }
                    if key.starts_with(&*prefix) && is_valid(&row, now) {
                        let left = row.0.map(|expires| Duration::from_millis(expires - now));
                        values.push(SharedValue::new(known, key, row.1, left));
                    }
                }
                Ok(values)
            });
            Ok(scanned.await?)
        })
    }
}

struct Swap {
    /// The space and the key.
    id: (String, String),
    expected: Option<String>,
    new: Option<String>,
    ttl: TimeToLive,
}

impl Swap {
    fn perform(self, writing: &mut Writing<'_>) -> Result<bool, Fault> {
        let (id, now) = ((&*self.id.0, &*self.id.1), now());
        let mut table = writing.transaction().open_table(SHARED)?;
        let expires = {
            let stored = table.get(id)?;
            let valid = stored.as_ref().map(|it| it.value()).filter(|it| is_valid(it, now));
            if valid.map(|(_, value)| value) != self.expected.as_deref() {
                return Ok(false);
            }
            match self.ttl {
                TimeToLive::Forever => None,
                TimeToLive::For(time) => Some(now.saturating_add(whole_millis(time))),
                TimeToLive::Unchanged => valid.and_then(|(expires, _)| expires),
            }
        };
        match self.new {
            Some(new) => drop(table.insert(id, (expires, &*new))?),
            None => drop(table.remove(id)?),
        }
        if table.len()? % SWEEP_INTERVAL == 0 {
            table.retain(|_, row| is_valid(&row, now))?;
        }
        writing.change();
        Ok(true)
    }
}
