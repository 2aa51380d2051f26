//! The keys that approvals are signed with.

use toolwright::chat::{MemoryStore, Store};

use crate::Backend;

async fn keys(store: &dyn Store) -> Vec<String> {
    let keys = store.signing_keys().await.unwrap();
    keys.iter().map(|key| key.expose().to_owned()).collect()
}

pub async fn the_key_stays_the_same(backend: &dyn Backend) {
    let (one, two) = (backend.open().await, backend.open().await);
    let (first, second) = tokio::join!(keys(&one), keys(&two));
    assert_eq!(first, second);
    assert!(first.len() == 1 && first[0].len() >= 64);
    assert_eq!(keys(&backend.open().await).await, first);
    assert_ne!(keys(&MemoryStore::new()).await, first);
}

pub async fn a_new_key_comes_first_and_old_ones_remain(backend: &dyn Backend) {
    let store = backend.open().await;
    let first = keys(&store).await;
    store.rotate_signing_key(3).await.unwrap();
    let two = keys(&store).await;
    assert_eq!(two[1..], first);
    store.rotate_signing_key(3).await.unwrap();
    store.rotate_signing_key(3).await.unwrap();
    let three = keys(&backend.open().await).await;
    assert_eq!(three.len(), 3);
    assert_eq!(three[2], two[0], "the oldest is gone");
    store.rotate_signing_key(0).await.unwrap();
    let last = keys(&store).await;
    assert!(last.len() == 1 && !three.contains(&last[0]), "one key always remains");
}
