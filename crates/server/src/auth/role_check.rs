//! Checks the roles that sign-in providers give to groups: a misspelt one would silently be no right at all.

use toolwright_auth::{ADMIN_ROLE, AuthBuildError, SignIn};
use toolwright_core::schema::is_misspelling;
use toolwright_core::{ApproverRule, Invoker};

use crate::quota::settings::QuotaSettings;

/// Rejects a role that is nearly one that means something: `admin`, one that approves calls of a tool, or one with a quota.
///
/// Other roles may be those that the program itself reads.
pub(crate) fn reject_misspelt_roles(
    sign_in: &SignIn,
    quota: &QuotaSettings,
    invoker: &Invoker,
) -> Result<(), AuthBuildError> {
    // Tools that cannot be listed are an error of what is built from them.
    let snapshot = invoker.snapshot().ok();
    let rules =
        snapshot.iter().flat_map(|tools| tools.iter()).flat_map(|tool| tool.approvers().rules());
    let approvers = rules.filter_map(|rule| match rule {
        ApproverRule::Role(role) => Some(role.as_str()),
        _ => None,
    });
    let known: Vec<&str> = approvers.chain(quota.roles()).chain([ADMIN_ROLE]).collect();
    for provider in sign_in.providers() {
        for (group, role) in provider.roles_of_groups().filter(|(_, role)| !known.contains(role)) {
            if let Some(meant) = known.iter().find(|known| is_misspelling(role, known)) {
                let name = provider.name();
                let message = format!(
                    "the group `{group}` of `[login.{name}.roles]` has the role `{role}`, which means nothing: did you mean `{meant}`?"
                );
                return Err(AuthBuildError::SignIn { message });
            }
        }
    }
    Ok(())
}
