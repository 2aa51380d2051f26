//! Connects to checked addresses, and verifies the host's certificate under TLS.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::error::FetchError;
use super::policy::Target;

/// The maximum number of a host's addresses that are tried.
const MAX_ATTEMPTS: usize = 4;
/// The timeout of one attempt, so that an unreachable address leaves time for the next.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(5);

/// Connects to the first address that accepts the connection.
pub(crate) async fn connect(
    addresses: &[SocketAddr],
    target: &Target,
) -> Result<TcpStream, FetchError> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in addresses.iter().take(MAX_ATTEMPTS) {
        match timeout(ATTEMPT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(FetchError::Unreachable { host: target.name.clone(), source: last })
}

pub(crate) use tls::Connector;

mod tls {
    use std::error::Error;
    use std::sync::Arc;

    use tokio::net::TcpStream;
    use tokio_rustls::TlsConnector;
    use tokio_rustls::client::TlsStream;
    use tokio_rustls::rustls::crypto::ring;
    use tokio_rustls::rustls::pki_types::pem::PemObject;
    use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
    use tokio_rustls::rustls::{ClientConfig, RootCertStore};
    use url::Host;

    use super::{FetchError, Target};
    use crate::http::error::SetupError;

    /// Establishes TLS over connections.
    pub(crate) struct Connector(TlsConnector);

    impl Connector {
        /// Trusts Mozilla's authorities, which are part of the binary, and the given certificates.
        ///
        /// The system's certificates are not read, so that a tool reaches the same hosts on every machine.
        pub(crate) fn new(trusted: &[Vec<u8>]) -> Result<Self, SetupError> {
            let config = config(trusted).map_err(|source| SetupError::Tls { source })?;
            Ok(Self(Arc::new(config).into()))
        }

        pub(crate) async fn connect_tls(
            &self,
            stream: TcpStream,
            target: &Target,
        ) -> Result<TlsStream<TcpStream>, FetchError> {
            let insecure = |source| FetchError::Insecure { host: target.name.clone(), source };
            let name = server_name(&target.host).map_err(insecure)?;
            let stream = self.0.connect(name, stream).await;
            stream.map_err(|error| insecure(error.into()))
        }
    }

    type BoxError = Box<dyn Error + Send + Sync>;

    fn config(trusted: &[Vec<u8>]) -> Result<ClientConfig, BoxError> {
        let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        for pem in trusted {
            let before = roots.len();
            for certificate in CertificateDer::pem_slice_iter(pem) {
                roots.add(certificate?)?;
            }
            if roots.len() == before {
                return Err("there is no certificate in the PEM text".into());
            }
        }
        // Explicit, not the process-wide default, which another crate may change.
        let provider = Arc::new(ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }

    fn server_name(host: &Host<String>) -> Result<ServerName<'static>, BoxError> {
        match host {
            Host::Domain(name) => Ok(ServerName::try_from(name.clone())?),
            Host::Ipv4(address) => Ok(ServerName::IpAddress((*address).into())),
            Host::Ipv6(address) => Ok(ServerName::IpAddress((*address).into())),
        }
    }
}
