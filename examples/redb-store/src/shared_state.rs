//! Values and counters: the three operations that a store implements.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use redb::{ReadableTable as _, ReadableTableMetadata as _};
use toolwright::{SharedState, SharedStateFuture, SharedValue, TimeToLive, check_shared_key};

use crate::database::{Inner, SHARED};

/// The shared state of a store.
pub(crate) struct RedbSharedState(pub(crate) Arc<Inner>);

/// The time since 1970: values outlive the process, so their clock is that of the machine.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Returns the time that is left until so many milliseconds since 1970; `None` if they are over.
fn left_until(expires: u64, now: Duration) -> Option<Duration> {
    Duration::from_millis(expires).checked_sub(now).filter(|left| !left.is_zero())
}

fn is_valid(expires: Option<u64>, now: Duration) -> bool {
    expires.is_none_or(|expires| left_until(expires, now).is_some())
}

impl SharedState for RedbSharedState {
    fn get<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        Box::pin(async move {
            // The key itself is the first of those that begin with it.
            let first = self.scan(Some(space), key, 1).await?.into_iter().next();
            Ok(first.filter(|first| first.key == key).map(|first| first.value))
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
            let (space, key) = (space.to_owned(), key.to_owned());
            let (expected, new) = (expected.map(str::to_owned), new.map(str::to_owned));
            let swap = self.0.write(move |writing| {
                let (id, now) = ((&*space, &*key), now());
                let mut table = writing.rows.open_table(SHARED)?;
                let known = table.get(id)?.map(|row| (row.value().0, row.value().1.to_owned()));
                let known = known.filter(|(expires, _)| is_valid(*expires, now));
                if known.as_ref().map(|(_, value)| value) != expected.as_ref() {
                    return Ok(false);
                }
                let expires = match ttl {
                    TimeToLive::Forever => None,
                    TimeToLive::For(time) => now.saturating_add(time).as_millis().try_into().ok(),
                    TimeToLive::Unchanged => known.and_then(|(expires, _)| expires),
                };
                match new {
                    Some(new) => drop(table.insert(id, (expires, &*new))?),
                    None => drop(table.remove(id)?),
                }
                // Expired values do not accumulate: the number of all passes a multiple of this.
                if table.len()? % 128 == 0 {
                    table.retain(|_, row| is_valid(row.0, now))?;
                }
                writing.is_changed = true;
                Ok(true)
            });
            Ok(swap.await?)
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
                let (table, now) = (reading.rows.open_table(SHARED)?, now());
                let mut values = Vec::new();
                for stored in table.range((space.as_deref().unwrap_or_default(), &*prefix)..)? {
                    let (id, row) = stored?;
                    let ((known, key), row) = (id.value(), row.value());
                    let is_meant = key.starts_with(&*prefix)
                        && space.as_ref().is_none_or(|space| known == *space);
                    if values.len() == limit || (space.is_some() && !is_meant) {
                        break;
                    }
                    if is_meant && is_valid(row.0, now) {
                        let left = row.0.and_then(|expires| left_until(expires, now));
                        values.push(SharedValue::new(known, key, row.1, left));
                    }
                }
                Ok(values)
            });
            Ok(scanned.await?)
        })
    }
}
