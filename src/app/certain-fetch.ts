import { providerError } from "../ports/chat-model.ts";

/**
 * Node's own `fetch`, which cannot be told to look at certificates: where a variable of the environment says not to, it
 * makes no request over TLS.
 *
 * @throws RoteError `provider_error` of kind `refused`: nothing was sent
 */
export const certainFetch: typeof globalThis.fetch = async (input, init) => {
  const url = input instanceof Request ? input.url : String(input);
  if (process.env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0" && /^https:/i.test(url.trim())) {
    throw providerError(
      "refused",
      "NODE_TLS_REJECT_UNAUTHORIZED=0 lets anybody answer for a provider, and have its key; take it away, and name the " +
        "certificates that you trust in NODE_EXTRA_CA_CERTS",
    );
  }
  return globalThis.fetch(input, init);
};
