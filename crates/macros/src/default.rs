//! Checks of defaults: placeholders, and literals of the wrong type.

use syn::{Expr, ExprLit, ExprUnary, Lit, LitStr, Type, UnOp};

use crate::parse::{strip_parens, strip_type_parens};

/// Returns the literal if the expression is a string literal.
pub(crate) fn string_literal(expr: &Expr) -> Option<&LitStr> {
    match strip_parens(expr) {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
        _ => None,
    }
}

/// Lists the names in `${name}` and `${name:-fallback}`, by the rules of `Template` in the core crate.
pub(crate) fn placeholders(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(offset) = rest.find("${") {
        let (before, from) = rest.split_at(offset);
        let inner = from.strip_prefix("${").unwrap_or_default();
        if before.ends_with('$') {
            rest = inner;
            continue;
        }
        let Some((name, after)) = inner.split_once('}') else {
            break;
        };
        names.push(name.split_once(":-").map_or(name, |(name, _)| name).to_owned());
        rest = after;
    }
    names
}

/// Returns the error message for a literal that cannot have the parameter's type.
///
/// Only for the primitive types and `String`: the compiler checks all other defaults.
pub(crate) fn literal_type_mismatch(ty: &Type, default: &Expr) -> Option<String> {
    let Type::Path(path) = strip_type_parens(ty) else {
        return None;
    };
    let name = path.path.get_ident()?.to_string();
    let (lit, minus) = match strip_parens(default) {
        Expr::Lit(ExprLit { lit, .. }) => (lit, ""),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match &**expr {
            Expr::Lit(ExprLit { lit, .. }) => (lit, "-"),
            _ => return None,
        },
        _ => return None,
    };
    let written = match lit {
        Lit::Str(text) => text.value(),
        Lit::Int(number) => format!("{minus}{}", number.base10_digits()),
        Lit::Float(number) => format!("{minus}{}", number.base10_digits()),
        Lit::Bool(yes) => yes.value().to_string(),
        Lit::Char(c) => c.value().to_string(),
        _ => return None,
    };
    let number = |suffix: &str| match written.parse::<f64>() {
        Ok(_) => format!("`default = {written}{suffix}`"),
        Err(_) => format!("a number such as `default = 1{suffix}`"),
    };
    let suggestion = match (name.as_str(), lit) {
        ("String", Lit::Str(_)) | ("bool", Lit::Bool(_)) | ("char", Lit::Char(_)) => return None,
        ("f32" | "f64", Lit::Float(_)) => return None,
        ("String", _) => format!("`default = {written:?}`"),
        ("bool", _) => "`default = true` or `default = false`".to_owned(),
        ("char", _) => "`default = 'x'`".to_owned(),
        ("f32" | "f64", _) if written.contains('.') => number(""),
        ("f32" | "f64", _) => number(".0"),
        (int, _) if !is_integer(int) => return None,
        (int, _) if int.starts_with('u') && written.starts_with('-') => {
            "a number that is not negative".to_owned()
        }
        (_, Lit::Int(_)) => return None,
        _ if written.contains('.') => "a whole number such as `default = 1`".to_owned(),
        _ => number(""),
    };
    Some(format!("the default is not of type `{name}`: write {suggestion}"))
}

fn is_integer(name: &str) -> bool {
    let bits = name.strip_prefix('i').or_else(|| name.strip_prefix('u'));
    matches!(bits, Some("8" | "16" | "32" | "64" | "128" | "size"))
}
