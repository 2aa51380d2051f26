//! A resolver that answers as it is told, and remembers what it was asked.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use toolwright_guard::Resolver;

/// Its answers, in turn; the last one is repeated.
#[derive(Clone)]
pub(crate) struct Names {
    answers: Arc<[Vec<IpAddr>]>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Names {
    pub(crate) fn always(answer: &[IpAddr]) -> Self {
        Self::in_turn(&[answer])
    }

    pub(crate) fn in_turn(answers: &[&[IpAddr]]) -> Self {
        Self {
            answers: answers.iter().map(|answer| answer.to_vec()).collect(),
            asked: Arc::default(),
        }
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Resolver for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let mut asked = self.asked.lock().unwrap();
        let turn = asked.len().min(self.answers.len() - 1);
        asked.push(host.to_owned());
        let answer = self.answers[turn].clone();
        Box::pin(async move { Ok(answer) })
    }
}
