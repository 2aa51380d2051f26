// An OpenID provider of other authors: npm `oidc-provider`, with its own pages for sign-in, consent and sign-out.

import { createRequire } from "node:module";
import { createServer } from "node:http";
import { join } from "node:path";

const require = createRequire(join(process.env.MODULES, "package.json"));
const { Provider } = require("oidc-provider");

export const CLIENT_ID = "toolwright";
export const CLIENT_SECRET = "a-client-secret-of-the-test-0123456789";

/** The people, by what they type into the provider's form. */
const PEOPLE = {
  ada: { name: "Ada Lovelace", groups: ["staff"] },
  bob: { name: "Bob Builder", groups: ["staff"] },
  mia: { name: "Mia Manager", groups: ["staff", "leads"] },
  root: { name: "Grace Hopper", groups: ["staff", "it-operations"] },
};

/**
 * Starts it for one test; `serve` sets the address of the server, which is its client.
 * @param {any} t
 * @param {{tokenSeconds?: number}} [options] tokenSeconds: the lifetime of an access token
 */
export async function startProvider(t, { tokenSeconds = 3600 } = {}) {
  let handle = (_, response) => response.writeHead(503).end();
  const server = createServer((request, response) => handle(request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${server.address().port}`;
  /** Every token and code that it has issued. */
  const secrets = new Set([CLIENT_SECRET]);
  const people = { ...PEOPLE };
  let refreshes = 0;
  return {
    issuer,
    secrets,
    /** How often tokens were refreshed. */
    refreshes: () => refreshes,
    /** Removes a person, whose tokens are not refreshed any more. */
    remove: (name) => delete people[name],
    /** Responds with an error from now on. */
    stop: () => (handle = (_, response) => response.writeHead(503).end()),
    serve(url) {
      const provider = new Provider(issuer, {
        clients: [
          {
            client_id: CLIENT_ID,
            client_secret: CLIENT_SECRET,
            grant_types: ["authorization_code", "refresh_token"],
            redirect_uris: [`${url}/api/login/corp/callback`],
            post_logout_redirect_uris: [`${url}/`],
          },
        ],
        claims: { openid: ["sub"], profile: ["name"], groups: ["groups"] },
        scopes: ["openid", "profile", "groups", "offline_access"],
        findAccount: (_, id) => people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id] }) },
        ttl: { AccessToken: tokenSeconds },
        cookies: { keys: ["a-key-of-the-test"] },
        features: { devInteractions: { enabled: true }, revocation: { enabled: true } },
        pkce: { required: () => true },
        rotateRefreshToken: true,
      });
      provider.on("grant.success", ({ oidc, body }) => {
        if (oidc.params.grant_type === "refresh_token") refreshes += 1;
        secrets.add(oidc.params.code);
        secrets.add(oidc.params.code_verifier);
        for (const name of ["access_token", "id_token", "refresh_token"]) secrets.add(body[name]);
        secrets.delete(undefined);
      });
      provider.on("server_error", (_, error) => console.error("provider:", error));
      handle = provider.callback();
    },
  };
}
