//! The conformance suite, over each store.

mod memory {
    use crate::backend::Backend;
    test_support_store::store_conformance!(async { Some(Backend::memory()) });
}

mod sqlite {
    use crate::backend::Backend;
    test_support_store::store_conformance!(async { Some(Backend::sqlite()) });
}

mod postgres {
    use crate::backend::Backend;
    test_support_store::store_conformance!(Backend::postgres());
}
