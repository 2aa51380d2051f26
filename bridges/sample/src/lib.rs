//! What samples need besides their framework: a model without a key, and an approver.
//!
//! The model is Toolwright's demo model, behind an address as OpenAI's; a real one would do just as well.

use std::error::Error;
use std::net::Ipv4Addr;

use tokio::net::TcpListener;
use toolwright::demo::DemoModel;
use toolwright::server::{Mount, ServerBuilder};
use toolwright::{ApprovalDecision, ApprovalRequest, Approver, BoxFuture, Invoker, Registry};

/// Starts the model, and returns the address that a client of OpenAI's is given: `http://127.0.0.1:PORT/v1`.
///
/// It has no tools of its own, so it calls those that a request brings. It runs until the program ends.
///
/// # Errors
///
/// When there is no port to listen on.
pub async fn start_demo_model() -> Result<String, Box<dyn Error>> {
    let site = ServerBuilder::new(Invoker::new(Registry::new())?, DemoModel::new())
        .mount(Mount::openai())
        .build()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { site.serve(listener, std::future::pending()).await });
    Ok(format!("http://{address}/v1"))
}

/// An approver that allows refunds of up to ten euros.
#[derive(Clone, Copy, Debug, Default)]
pub struct RefundApprover;

impl Approver for RefundApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        println!("  asked: {}", request.arguments);
        let amount = request.arguments.get("amount").and_then(|it| it.as_f64());
        let decision = match amount {
            Some(amount) if amount <= 10.0 => request.approve(),
            _ => request.deny("more than 10 euros is the manager's to decide"),
        };
        Box::pin(async { decision })
    }
}

/// What the samples ask.
pub const SAMPLE_MESSAGES: [&str; 3] = [
    "What is the weather in Paris?",
    "Convert 20 C to Fahrenheit",
    "Refund order A-1042, 20 euros",
];
