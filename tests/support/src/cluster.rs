//! Clusters that belong to the tests: nodes behind a balancer, and the services that they use. One cluster runs at a time.

mod nodes;
mod process;
mod services;

pub use nodes::{BusKind, Cluster, ClusterSettings, Node, Program};
pub use services::{Link, LinkFault};
