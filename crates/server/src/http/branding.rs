//! The branding of the console: title, logo, accent colour, greeting, suggestions and links.

use std::path::PathBuf;

use axum::body::Bytes;
use serde::{Deserialize, Serialize};
use toolwright_core::{Config, ConfigError};

use crate::server::ServerBuildError;

/// The largest logo, in bytes.
const MAX_LOGO_BYTES: usize = 256 << 10;

/// What the console shows of the program it belongs to: title, logo, accent colour, greeting, suggestions and links.
///
/// All of it is optional, and all of it is text: nothing is parsed as HTML.
///
/// # Examples
///
/// ```
/// use toolwright::server::{Branding, ServerBuilder};
/// use toolwright::testing::ScriptedModel;
/// use toolwright::{Invoker, Registry};
///
/// let branding = Branding::new()
///     .title("Shop")
///     .logo(&br##"<svg xmlns="http://www.w3.org/2000/svg"><circle r="9" fill="#b3261e"/></svg>"##[..])
///     .accent("#b3261e")
///     .greeting("What are you looking for?")
///     .suggestions(["Which orders are open?"])
///     .link("Help", "https://shop.example.com/help");
/// let invoker = Invoker::new(&Registry::new())?;
/// let model = ScriptedModel::new().replies("Hello.");
/// let server = ServerBuilder::new(invoker, model).branding(branding).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Branding {
    title: Option<String>,
    logo: Option<LogoSource>,
    accent: Option<String>,
    greeting: Option<String>,
    suggestions: Option<Vec<String>>,
    links: Option<Vec<BrandingLink>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(from = "PathBuf")]
enum LogoSource {
    File(PathBuf),
    Content(Bytes),
}

impl From<PathBuf> for LogoSource {
    fn from(file: PathBuf) -> Self {
        Self::File(file)
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct BrandingLink {
    label: String,
    url: String,
}

impl Branding {
    /// Starts with the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the title of the page; default: the server's name.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the content of the logo: SVG, PNG, JPEG, GIF or WebP, at most 256 KiB.
    #[must_use]
    pub fn logo(mut self, content: impl Into<Bytes>) -> Self {
        self.logo = Some(LogoSource::Content(content.into()));
        self
    }

    /// Sets the file of the logo, which is read when the server is built.
    #[must_use]
    pub fn logo_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.logo = Some(LogoSource::File(file.into()));
        self
    }

    /// Sets the accent colour, `#rgb` or `#rrggbb`.
    ///
    /// The console keeps its hue; it is darkened in the light theme and lightened in the dark one as far as text needs it.
    #[must_use]
    pub fn accent(mut self, colour: impl Into<String>) -> Self {
        self.accent = Some(colour.into());
        self
    }

    /// Sets the heading of the start screen; default: the title and an offer to help.
    #[must_use]
    pub fn greeting(mut self, greeting: impl Into<String>) -> Self {
        self.greeting = Some(greeting.into());
        self
    }

    /// Sets the messages that the start screen suggests; default: made from the descriptions of the tools and the examples of
    /// their parameters. An empty list suggests nothing.
    #[must_use]
    pub fn suggestions<S: Into<String>>(mut self, messages: impl IntoIterator<Item = S>) -> Self {
        self.suggestions = Some(messages.into_iter().map(Into::into).collect());
        self
    }

    /// Adds a link to the sidebar: an `http:` or `https:` URL, or one relative to the console.
    #[must_use]
    pub fn link(mut self, label: impl Into<String>, url: impl Into<String>) -> Self {
        let link = BrandingLink { label: label.into(), url: url.into() };
        self.links.get_or_insert_default().push(link);
        self
    }

    /// Replaces what the settings of `[console]` set: `title`, `logo` (a file, relative to that of the settings), `accent`,
    /// `greeting`, `suggestions` and `links` (a list of `{ label, url }`).
    ///
    /// # Errors
    ///
    /// When a setting has another type.
    pub fn with_config(self, config: &Config) -> Result<Self, ConfigError> {
        let mut settings: Self = config.get_or("console", Self::default())?;
        if let (Some(LogoSource::File(logo)), Some(folder)) =
            (&mut settings.logo, config.file().and_then(|file| file.parent()))
        {
            *logo = folder.join(&*logo);
        }
        Ok(Self {
            title: settings.title.or(self.title),
            logo: settings.logo.or(self.logo),
            accent: settings.accent.or(self.accent),
            greeting: settings.greeting.or(self.greeting),
            suggestions: settings.suggestions.or(self.suggestions),
            links: settings.links.or(self.links),
        })
    }

    /// Validates it, and fills in the defaults for a server of this name.
    pub(crate) fn build(self, server_name: &str) -> Result<ConsoleBranding, ServerBuildError> {
        let invalid = |setting| move |reason| ServerBuildError::Branding { setting, reason };
        let title = self.title.unwrap_or_else(|| title_from_name(server_name));
        let logo = self.logo.map(LogoSource::load).transpose().map_err(invalid("logo"))?;
        let accent_css = self.accent.as_deref().map(accent_css).transpose();
        let links = self.links.unwrap_or_default();
        links.iter().try_for_each(BrandingLink::check).map_err(invalid("link"))?;
        Ok(ConsoleBranding {
            greeting: self
                .greeting
                .unwrap_or_else(|| format!("This is {title}. What can I do for you?")),
            title,
            suggestions: self.suggestions,
            links,
            logo,
            accent_css: accent_css.map_err(invalid("accent"))?,
        })
    }
}

/// Validated branding; serialized for `/api/info`.
#[derive(Serialize)]
pub(crate) struct ConsoleBranding {
    pub(crate) title: String,
    greeting: String,
    /// `None`: the console makes them from the tools that it lists.
    suggestions: Option<Vec<String>>,
    links: Vec<BrandingLink>,
    /// The content of the logo and its media type.
    #[serde(skip)]
    pub(crate) logo: Option<(Bytes, &'static str)>,
    /// The style sheet that sets the accent colour.
    #[serde(skip)]
    pub(crate) accent_css: Option<String>,
}

/// Makes `Hello tools` of `hello-tools`.
fn title_from_name(name: &str) -> String {
    let words = name.replace(['-', '_'], " ");
    let mut chars = words.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).collect()
}

impl LogoSource {
    fn load(self) -> Result<(Bytes, &'static str), String> {
        let content = match self {
            Self::Content(content) => content,
            Self::File(file) => std::fs::read(&file)
                .map_err(|error| format!("cannot read {}: {error}", file.display()))?
                .into(),
        };
        if content.len() > MAX_LOGO_BYTES {
            return Err(format!("it has more than {} KiB", MAX_LOGO_BYTES >> 10));
        }
        let media_type = image_type(&content)
            .ok_or("it is not an image: expected SVG, PNG, JPEG, GIF or WebP")?;
        Ok((content, media_type))
    }
}

/// The media type of an image, from its first bytes.
pub(super) fn image_type(content: &[u8]) -> Option<&'static str> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    match content {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => {
            let text = std::str::from_utf8(content).ok()?.trim_start();
            let is_svg = text.starts_with("<svg")
                || (text.starts_with("<?xml") || text.starts_with("<!")) && text.contains("<svg");
            is_svg.then_some("image/svg+xml")
        }
    }
}

/// The style sheet of an accent colour: text in it has a contrast of 4.5 with every background of both themes.
fn accent_css(colour: &str) -> Result<String, String> {
    let digits = colour.strip_prefix('#').unwrap_or_default();
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !is_hex || !matches!(digits.len(), 3 | 6) {
        return Err(format!("`{colour}` is not a colour: write it as #0b5d54"));
    }
    // Less chroma as the lightness changes: the hue stays within what a screen shows.
    Ok(format!(
        ":root {{
  --accent: light-dark(
    oklch(from {colour} min(l, 0.5) calc(c * min(1, 0.5 / l)) h),
    oklch(from {colour} max(l, 0.75) calc(c * min(1, 0.25 / (1 - l))) h)
  );
}}
"
    ))
}

impl BrandingLink {
    fn check(&self) -> Result<(), String> {
        let Self { label, url } = self;
        let path = url.split(['/', '?', '#']).next().unwrap_or_default();
        let is_absolute = url.starts_with("https://") || url.starts_with("http://");
        let is_relative = !path.contains(':') && !url.starts_with("//");
        let is_plain = !url.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\');
        match (is_absolute || is_relative) && is_plain && !label.trim().is_empty() {
            true => Ok(()),
            false => Err(format!(
                "`{label}` to `{url}`: expected a label, and an http or https URL or a relative one"
            )),
        }
    }
}
