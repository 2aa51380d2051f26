//! Delegates methods of a [`Store`](crate::Store) to another one.

/// Implements the named methods of [`Store`](crate::Store) by calling those of another store, for a store that wraps one.
///
/// # Examples
///
/// ```
/// use toolwright::chat::{Append, Lease, MemoryStore, Store, StoreFuture, delegate_store};
///
/// /// Prints every append.
/// struct PrintingStore(MemoryStore);
///
/// impl Store for PrintingStore {
///     delegate_store!(|self| self.0 =>
///         scope acquire renew release lease_status push_inbox inbox remove_inbox_item list_unattended list_held_by tail list
///         list_by_owner list_older_than delete delete_expired signing_keys rotate_signing_key check_writable shared_state);
///
///     fn append<'a>(&'a self, lease: &'a Lease, append: Append<'a>) -> StoreFuture<'a, ()> {
///         println!("{} entries", append.entries.len());
///         self.0.append(lease, append)
///     }
/// }
/// ```
#[macro_export]
macro_rules! delegate_store {
    (|$self:ident| $inner:expr => $($method:ident)*) => {
        $($crate::delegate_store! { @ $method $self $inner })*
    };
    (@ scope $self:ident $inner:expr) => {
        fn scope(&$self) -> $crate::StoreScope {
            $crate::Store::scope(&$inner)
        }
    };
    (@ acquire $self:ident $inner:expr) => {
        fn acquire<'a>(&'a $self, conversation: &'a str, holder: &'a str, duration: ::std::time::Duration) -> $crate::StoreFuture<'a, Option<$crate::Lease>> {
            $crate::Store::acquire(&$inner, conversation, holder, duration)
        }
    };
    (@ renew $self:ident $inner:expr) => {
        fn renew<'a>(&'a $self, lease: &'a $crate::Lease, duration: ::std::time::Duration) -> $crate::StoreFuture<'a, bool> {
            $crate::Store::renew(&$inner, lease, duration)
        }
    };
    (@ release $self:ident $inner:expr) => {
        fn release<'a>(&'a $self, lease: &'a $crate::Lease) -> $crate::StoreFuture<'a, ()> {
            $crate::Store::release(&$inner, lease)
        }
    };
    (@ lease_status $self:ident $inner:expr) => {
        fn lease_status<'a>(&'a $self, conversation: &'a str) -> $crate::StoreFuture<'a, $crate::LeaseStatus> {
            $crate::Store::lease_status(&$inner, conversation)
        }
    };
    (@ append $self:ident $inner:expr) => {
        fn append<'a>(&'a $self, lease: &'a $crate::Lease, append: $crate::Append<'a>) -> $crate::StoreFuture<'a, ()> {
            $crate::Store::append(&$inner, lease, append)
        }
    };
    (@ push_inbox $self:ident $inner:expr) => {
        fn push_inbox<'a>(&'a $self, conversation: &'a str, item: &'a $crate::InboxItem, limit: usize) -> $crate::StoreFuture<'a, Option<u64>> {
            $crate::Store::push_inbox(&$inner, conversation, item, limit)
        }
    };
    (@ inbox $self:ident $inner:expr) => {
        fn inbox<'a>(&'a $self, conversation: &'a str) -> $crate::StoreFuture<'a, Vec<$crate::InboxItem>> {
            $crate::Store::inbox(&$inner, conversation)
        }
    };
    (@ remove_inbox_item $self:ident $inner:expr) => {
        fn remove_inbox_item<'a>(&'a $self, conversation: &'a str, position: u64) -> $crate::StoreFuture<'a, bool> {
            $crate::Store::remove_inbox_item(&$inner, conversation, position)
        }
    };
    (@ list_unattended $self:ident $inner:expr) => {
        fn list_unattended(&$self, limit: usize) -> $crate::StoreFuture<'_, Vec<String>> {
            $crate::Store::list_unattended(&$inner, limit)
        }
    };
    (@ list_held_by $self:ident $inner:expr) => {
        fn list_held_by<'a>(&'a $self, holder: &'a str, limit: usize) -> $crate::StoreFuture<'a, Vec<String>> {
            $crate::Store::list_held_by(&$inner, holder, limit)
        }
    };
    (@ tail $self:ident $inner:expr) => {
        fn tail<'a>(&'a $self, conversation: &'a str, end: $crate::TailEnd<'a>, limit: usize) -> $crate::StoreFuture<'a, Vec<$crate::Entry>> {
            $crate::Store::tail(&$inner, conversation, end, limit)
        }
    };
    (@ list $self:ident $inner:expr) => {
        fn list(&$self, limit: usize) -> $crate::StoreFuture<'_, Vec<$crate::ConversationSummary>> {
            $crate::Store::list(&$inner, limit)
        }
    };
    (@ list_by_owner $self:ident $inner:expr) => {
        fn list_by_owner<'a>(&'a $self, owner: &'a $crate::Owner, limit: usize) -> $crate::StoreFuture<'a, Vec<$crate::ConversationSummary>> {
            $crate::Store::list_by_owner(&$inner, owner, limit)
        }
    };
    (@ list_older_than $self:ident $inner:expr) => {
        fn list_older_than(&$self, time: u64, limit: usize) -> $crate::StoreFuture<'_, Vec<$crate::ConversationSummary>> {
            $crate::Store::list_older_than(&$inner, time, limit)
        }
    };
    (@ delete $self:ident $inner:expr) => {
        fn delete<'a>(&'a $self, lease: &'a $crate::Lease) -> $crate::StoreFuture<'a, bool> {
            $crate::Store::delete(&$inner, lease)
        }
    };
    (@ delete_expired $self:ident $inner:expr) => {
        fn delete_expired<'a>(&'a $self, lease: &'a $crate::Lease, time: u64) -> $crate::StoreFuture<'a, bool> {
            $crate::Store::delete_expired(&$inner, lease, time)
        }
    };
    (@ signing_keys $self:ident $inner:expr) => {
        fn signing_keys(&$self) -> $crate::StoreFuture<'_, Vec<$crate::__internal::Secret>> {
            $crate::Store::signing_keys(&$inner)
        }
    };
    (@ rotate_signing_key $self:ident $inner:expr) => {
        fn rotate_signing_key(&$self, keep: usize) -> $crate::StoreFuture<'_, ()> {
            $crate::Store::rotate_signing_key(&$inner, keep)
        }
    };
    (@ shared_state $self:ident $inner:expr) => {
        fn shared_state(&$self) -> ::std::sync::Arc<dyn $crate::__internal::SharedState> {
            $crate::Store::shared_state(&$inner)
        }
    };
    (@ check_writable $self:ident $inner:expr) => {
        fn check_writable(&$self) -> $crate::StoreFuture<'_, ()> {
            $crate::Store::check_writable(&$inner)
        }
    };
}
