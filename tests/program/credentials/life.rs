//! The life of a credential, and a kill in the middle of each step.

use super::program::{CALL, Program, visit};
use super::secret_scan::assert_nothing_secret_is_written;
use super::shop::Shop;

const HOUR: i64 = 3_600;

fn shop_and_program() -> Option<(Shop, Program)> {
    let shop = Shop::start()?;
    let program = Program::new(&shop)?;
    Some((shop, program))
}

#[test]
fn a_login_outlives_restarts_and_is_refreshed_until_it_is_revoked() {
    let Some((mut shop, program)) = shop_and_program() else { return };
    program.call_needs_login();
    program.log_in();
    program.call();
    let listed = program.run(&["mcp", "list"]);
    assert!(listed.out.contains("login: shared, refreshed by itself, scopes shop"), "{listed:?}");
    assert_eq!(shop.refreshes(), 0);

    // The token has expired, for both sides: it is refreshed before it is sent.
    program.advance(&mut shop, 2 * HOUR);
    program.call();
    assert_eq!(shop.refreshes(), 1);
    program.call();
    assert_eq!(shop.refreshes(), 1);

    // Several processes need another token at the same time: one refreshes it.
    program.advance(&mut shop, 2 * HOUR);
    let calls: Vec<_> = (0..3).map(|_| program.start(&CALL)).collect();
    for call in calls {
        let called = program.finish(call);
        assert_eq!(called.out, "5\n", "{called:?}");
    }
    assert_eq!(shop.refreshes(), 2);

    // A conversation, for the search of secrets.
    let asked = program.run(&["chat", "--conversation", "sum", "--once", "Add 2 and 3"]);
    assert!(asked.out.contains('5'), "{asked:?}");

    shop.send("revoke");
    program.call_needs_login();
    let listed = program.run(&["mcp", "list"]);
    assert!(listed.out.contains("login: shared, has ended"), "{listed:?}");
    program.log_in_by_pasting();
    program.call();

    let rotated = program.run(&["mcp", "rotate-key"]);
    assert_eq!(rotated.err, "1 credentials are encrypted with the new key\n", "{rotated:?}");
    program.call();
    let out = program.run(&["mcp", "logout", "shop"]);
    assert_eq!((out.code, out.err.as_str()), (Some(0), "logged out of shop\n"), "{out:?}");
    program.call_needs_login();
    assert_eq!(program.run(&["mcp", "logout", "shop"]).code, Some(1));
    assert_nothing_secret_is_written(&shop, &program);
}

#[test]
fn a_refresh_token_goes_to_another_issuer_only_after_a_person_has_accepted_it() {
    let Some((mut shop, program)) = shop_and_program() else { return };
    program.log_in();
    program.call();
    // As if the server had named another authorization server at first.
    let pins = program.path().join("toolwright.pins");
    let own = format!("http://127.0.0.1:{}", shop.port);
    let text = std::fs::read_to_string(&pins).unwrap();
    assert!(text.contains(&format!("\"issuer\": \"{own}\"")), "{text}");
    std::fs::write(&pins, text.replace(&own, "https://login.example")).unwrap();

    program.advance(&mut shop, 2 * HOUR);
    let called = program.run(&CALL);
    assert_ne!(called.code, Some(0), "{called:?}");
    assert!(called.err.contains("has changed to"), "{called:?}");
    assert!(called.err.contains("mcp accept shop"), "{called:?}");
    assert_eq!(shop.refreshes(), 0);

    let accepted = program.run(&["mcp", "accept", "shop"]);
    let message = format!("accepted `{own}` as the authorization server of shop\n");
    assert_eq!((accepted.code, accepted.err), (Some(0), message));
    program.call();
    assert_eq!(shop.refreshes(), 1);
}

#[test]
fn a_kill_in_the_middle_of_a_login_or_a_call_leaves_what_was_before() {
    let Some((mut shop, program)) = shop_and_program() else { return };
    for when in ["before", "after"] {
        shop.send(&format!("hold login {when}"));
        let (login, page) = program.start_login();
        let redirect = visit(&page).1.unwrap();
        assert_eq!(visit(&redirect).0, 200);
        assert_eq!(shop.wait_for("held"), "login");
        program.kill(login);
        shop.send("release");
        program.call_needs_login();
    }
    program.log_in();
    shop.send("hold call before");
    let call = program.start(&CALL);
    assert_eq!(shop.wait_for("held"), "call");
    program.kill(call);
    shop.send("release");
    program.call();
    assert_nothing_secret_is_written(&shop, &program);
}

#[test]
fn a_kill_in_the_middle_of_a_refresh_is_repeated_or_asks_for_a_login() {
    let Some((mut shop, program)) = shop_and_program() else { return };
    program.log_in();
    // The provider did not get to it: the next process refreshes, once the lock of the killed one has expired.
    program.advance(&mut shop, 2 * HOUR);
    shop.send("hold refresh instead");
    let call = program.start(&CALL);
    assert_eq!(shop.wait_for("held"), "refresh");
    program.kill(call);
    shop.send("release");
    program.advance(&mut shop, 60);
    program.call();
    assert_eq!(shop.refreshes(), 1);

    program.advance(&mut shop, 2 * HOUR);
    shop.send("hold refresh before");
    let call = program.start(&CALL);
    assert_eq!(shop.wait_for("held"), "refresh");
    program.kill(call);
    // The provider has rotated the token although no process received it: the next use of the old one is rejected.
    shop.send("release");
    program.advance(&mut shop, 60);
    program.call_needs_login();
    program.log_in();

    program.advance(&mut shop, 2 * HOUR);
    shop.send("hold refresh after");
    let call = program.start(&CALL);
    assert_eq!(shop.wait_for("held"), "refresh");
    program.kill(call);
    program.advance(&mut shop, 60);
    program.call_needs_login();
    shop.send("release");
    program.log_in();
    program.call();

    // Killed between the saved refresh and the call: the new token is used.
    program.advance(&mut shop, 2 * HOUR);
    let refreshes = shop.refreshes();
    shop.send("hold call before");
    let call = program.start(&CALL);
    assert_eq!(shop.wait_for("held"), "call");
    program.kill(call);
    shop.send("release");
    program.call();
    assert_eq!(shop.refreshes(), refreshes + 1);
    assert_nothing_secret_is_written(&shop, &program);
}

#[test]
fn a_kill_in_the_middle_of_a_logout_leaves_no_credential() {
    let Some((mut shop, program)) = shop_and_program() else { return };
    program.log_in();
    program.call();
    shop.send("hold revoke before");
    let logout = program.start(&["mcp", "logout", "shop"]);
    assert_eq!(shop.wait_for("held"), "revoke");
    program.kill(logout);
    shop.send("release");
    program.call_needs_login();
    assert_nothing_secret_is_written(&shop, &program);
}
