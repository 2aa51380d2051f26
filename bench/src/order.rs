//! The nested order that every library is given, once without and once with a limit that only a validator sees.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arguments of one call, as a model would send them.
pub const ARGUMENTS_JSON: &str = concat!(
    r#"{"order":{"customer":{"name":"Ada Lovelace","email":"ada@example.org","#,
    r#""address":{"street":"12 St James's Square","city":"London","zip":"10115","country":"GB"}},"#,
    r#""lines":[{"sku":"A-1042","quantity":3,"price":19.99,"tags":["gift","fragile"]},"#,
    r#"{"sku":"B-7","quantity":1,"price":250.0,"tags":[]},"#,
    r#"{"sku":"C-33","quantity":12,"price":0.5,"tags":["bulk"]}],"#,
    r#""priority":"high","express":true,"note":"leave at the door"},"dry_run":true}"#,
);

/// How soon the customer wants it.
#[derive(Clone, Copy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Whenever there is room.
    Low,
    /// In the usual time.
    Normal,
    /// Before the others.
    High,
}

/// One position of an order.
#[derive(Deserialize, JsonSchema, Serialize)]
pub struct Line {
    /// The article.
    pub sku: String,
    /// How many of it.
    pub quantity: u32,
    /// The price of one.
    pub price: f64,
    /// Wishes for packing.
    pub tags: Vec<String>,
}

/// What comes back.
#[derive(JsonSchema, Serialize)]
pub struct Receipt {
    /// The customer's name.
    pub name: String,
    /// Where it goes.
    pub city: String,
    /// The price of all lines, and the fee of a real run.
    pub total: f64,
    /// Pieces and packing wishes.
    pub items: u32,
    /// As ordered.
    pub priority: Priority,
}

// The two variants differ in one attribute, deep inside: everything above it must be defined twice.
macro_rules! variant {
    ($(#[$module:meta])* $name:ident $(, zip: $limit:meta)?) => {
        $(#[$module])*
        pub mod $name {
            use schemars::JsonSchema;
            use serde::{Deserialize, Serialize};

            use super::{Line, Priority, Receipt};

            /// Where a customer lives.
            #[derive(Deserialize, JsonSchema, Serialize)]
            pub struct Address {
                /// Street and number.
                pub street: String,
                /// The city.
                pub city: String,
                /// Five digits.
                $(#[$limit])?
                pub zip: String,
                /// Two letters; absent at home.
                pub country: Option<String>,
            }

            /// Who orders.
            #[derive(Deserialize, JsonSchema, Serialize)]
            pub struct Customer {
                /// The full name.
                pub name: String,
                /// For the receipt.
                pub email: String,
                /// Where it goes.
                pub address: Address,
            }

            /// An order with all its lines.
            #[derive(Deserialize, JsonSchema, Serialize)]
            pub struct Order {
                /// Who orders.
                pub customer: Customer,
                /// What is ordered.
                pub lines: Vec<Line>,
                /// How soon.
                pub priority: Priority,
                /// By courier.
                pub express: bool,
                /// For the courier.
                pub note: Option<String>,
            }

            /// The arguments of one call.
            #[derive(Deserialize, JsonSchema, Serialize)]
            pub struct Args {
                /// What to place.
                pub order: Order,
                /// Whether to leave out the fee.
                #[serde(default)]
                pub dry_run: bool,
            }

            /// Does what every tool of the benchmark does.
            pub fn work(order: Order, dry_run: bool) -> Receipt {
                let Order { customer, lines, priority, .. } = order;
                super::receipt(customer.name, customer.address.city, &lines, priority, dry_run)
            }
        }
    };
}

variant! {
    /// Types that enforce their whole schema by themselves.
    plain
}

variant! {
    /// Types whose schema says more than they enforce.
    limited, zip: schemars(regex(pattern = "^[0-9]{5}$"))
}

fn receipt(
    name: String,
    city: String,
    lines: &[Line],
    priority: Priority,
    dry_run: bool,
) -> Receipt {
    let fee = if dry_run { 0.0 } else { 1.0 };
    let wishes = |line: &Line| u32::try_from(line.tags.len()).unwrap_or(u32::MAX);
    Receipt {
        name,
        city,
        total: fee + lines.iter().map(|l| l.price * f64::from(l.quantity)).sum::<f64>(),
        items: lines.iter().map(|l| l.quantity + wishes(l)).sum(),
        priority,
    }
}
