//! The tools of the sample assistant, which all samples and protocols share.

mod clock;
mod refund;
mod report;
mod summary;
mod weather;

pub use clock::{get_city_time, get_current_time};
pub use refund::{RefundTotal, Refunds};
pub use report::write_report;
pub use summary::summarize_instructions;
pub use weather::{convert_temperature, get_weather};
