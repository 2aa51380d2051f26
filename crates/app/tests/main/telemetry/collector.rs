//! A collector on loopback, which records the requests of one exporter.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// A collector, which listens until the test ends.
pub(crate) struct Collector {
    address: String,
    requests: Receiver<Request>,
}

/// A request that the collector received.
pub(crate) struct Request {
    /// The first line and the headers, in lower case.
    pub(crate) head: Vec<String>,
    body: Vec<u8>,
}

impl Collector {
    /// Starts a collector that responds to every request with this status, e.g. `200 OK`.
    pub(crate) fn with_status(status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let (sender, requests) = mpsc::channel();
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let request = respond(stream, status).expect("the request is whole");
                if sender.send(request).is_err() {
                    break;
                }
            }
        });
        Self { address: format!("http://{address}/v1/traces"), requests }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns the next request; blocks until there is one.
    pub(crate) fn request(&self) -> Request {
        self.requests.recv().expect("the collector is there")
    }
}

fn respond(stream: TcpStream, status: &str) -> std::io::Result<Request> {
    let mut reader = BufReader::new(&stream);
    let mut head = Vec::new();
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 && line != "\r\n" {
        head.push(line.trim_end().to_lowercase());
        line.clear();
    }
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.expect("the request has a content length")];
    reader.read_exact(&mut body)?;
    let mut writer = &stream;
    write!(writer, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")?;
    Ok(Request { head, body })
}

impl Request {
    fn content(&self) -> ExportTraceServiceRequest {
        ExportTraceServiceRequest::decode(&*self.body).expect("the body is protobuf")
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let resources = self.content().resource_spans.into_iter();
        resources.flat_map(|it| it.scope_spans).flat_map(|it| it.spans).collect()
    }

    pub(crate) fn resource(&self) -> Vec<KeyValue> {
        let resource = self.content().resource_spans[0].resource.clone();
        resource.expect("the request has a resource").attributes
    }
}

/// Returns the value of an attribute, if it is a string.
pub(crate) fn text<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a str> {
    let attribute = attributes.iter().find(|it| it.key == key)?;
    match attribute.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text),
        _ => None,
    }
}
