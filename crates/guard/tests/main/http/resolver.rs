//! A resolver with scripted results, which records its queries.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use toolwright_guard::Resolver;

/// Returns its results in order, and repeats the last one.
#[derive(Clone)]
pub(crate) struct ScriptedResolver {
    results: Arc<[Vec<IpAddr>]>,
    queries: Arc<Mutex<Vec<String>>>,
}

impl ScriptedResolver {
    pub(crate) fn always(result: &[IpAddr]) -> Self {
        Self::in_order(&[result])
    }

    pub(crate) fn in_order(results: &[&[IpAddr]]) -> Self {
        Self {
            results: results.iter().map(|result| result.to_vec()).collect(),
            queries: Arc::default(),
        }
    }

    pub(crate) fn queries(&self) -> Vec<String> {
        self.queries.lock().unwrap().clone()
    }
}

impl Resolver for ScriptedResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let mut queries = self.queries.lock().unwrap();
        let index = queries.len().min(self.results.len() - 1);
        queries.push(host.to_owned());
        let result = self.results[index].clone();
        Box::pin(async move { Ok(result) })
    }
}
