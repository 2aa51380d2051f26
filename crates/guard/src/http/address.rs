//! Decides whether an address belongs to the public internet.
//!
//! For IPv4 the special blocks of the IANA registry are listed and the rest is public; for IPv6 one
//! block is public and the special ones within it are listed. `IpAddr::is_global` is similar,
//! but not stable.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// Every IPv4 block that is not the public internet.
const SPECIAL_V4: [Ipv4Net; 16] = [
    v4([0, 0, 0, 0], 8),     // this network; 0.0.0.0 is this machine
    v4([10, 0, 0, 0], 8),    // private
    v4([100, 64, 0, 0], 10), // carrier-grade NAT; some clouds' metadata
    v4([127, 0, 0, 0], 8),   // loopback
    // Azure's host agent, which answers in every virtual machine there, at a public-looking address.
    v4([168, 63, 129, 16], 32),
    v4([169, 254, 0, 0], 16),  // link-local; most clouds' metadata
    v4([172, 16, 0, 0], 12),   // private
    v4([192, 0, 0, 0], 24),    // protocol assignments
    v4([192, 0, 2, 0], 24),    // documentation
    v4([192, 88, 99, 0], 24),  // 6to4 relays
    v4([192, 168, 0, 0], 16),  // private
    v4([198, 18, 0, 0], 15),   // benchmarks
    v4([198, 51, 100, 0], 24), // documentation
    v4([203, 0, 113, 0], 24),  // documentation
    v4([224, 0, 0, 0], 4),     // multicast
    v4([240, 0, 0, 0], 4),     // reserved, broadcast
];

/// The block of global unicast addresses, which all public IPv6 addresses belong to.
const GLOBAL_V6: Ipv6Net = v6([0x2000, 0, 0], 3);

/// Every block within [`GLOBAL_V6`] that is not the public internet.
///
/// 6to4 and Teredo embed an IPv4 address; both blocks are refused as a whole, because no site uses them.
const SPECIAL_V6: [Ipv6Net; 4] = [
    v6([0x2001, 0, 0], 23),     // protocol assignments: Teredo, benchmarks, ORCHID
    v6([0x2001, 0xdb8, 0], 32), // documentation
    v6([0x2002, 0, 0], 16),     // 6to4
    v6([0x3fff, 0, 0], 20),     // documentation
];

/// The block of NAT64, which maps IPv4 addresses into networks without IPv4: the last four bytes are the IPv4 address.
const NAT64: Ipv6Net = v6([0x64, 0xff9b, 0], 96);

/// Returns the IPv4 address that an IPv6 address leads to, else the address itself.
pub(crate) fn effective_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if NAT64.contains(&address) => {
            let [.., a, b, c, d] = address.octets();
            Ipv4Addr::new(a, b, c, d).into()
        }
        address => address,
    }
}

/// Returns true if an address belongs to the public internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match effective_address(address) {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => {
            GLOBAL_V6.contains(&address) && !SPECIAL_V6.iter().any(|block| block.contains(&address))
        }
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|block| block.contains(&address))
}

const fn v4([a, b, c, d]: [u8; 4], prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6([a, b, c]: [u16; 3], prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(address: &str) -> bool {
        is_public(address.parse().unwrap())
    }

    #[test]
    fn public_addresses_are_public() {
        for address in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "192.169.0.0",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2a00:1450:4001:81b::200e",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
        ] {
            assert!(public(address), "{address}");
        }
    }

    #[test]
    fn special_ipv4_addresses_are_not_public() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
        ] {
            assert!(!public(address), "{address}");
        }
    }

    #[test]
    fn special_ipv6_addresses_are_not_public() {
        for address in [
            "::",
            "::1",
            "100::1",
            "2001:2::1",
            "2001:10::1",
            "2001:db8::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!public(address), "{address}");
        }
    }

    #[test]
    fn private_ipv4_addresses_embedded_in_ipv6_are_not_public() {
        for address in [
            "::ffff:127.0.0.1",
            "::ffff:a9fe:a9fe",
            "::ffff:0:127.0.0.1",
            "::127.0.0.1",
            "::8.8.8.8",
            "64:ff9b::10.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::1.1.1.1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        ] {
            assert!(!public(address), "{address}");
        }
    }
}
