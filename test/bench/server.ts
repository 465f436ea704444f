import { createAuthority, issueCertificate } from "../../src/access/certificates/authority.ts";
import { listen } from "../../src/http/listener.ts";
import { type ServerOptions, startServer } from "../../src/index.ts";
import { FieldOwnership } from "../../src/registry/field-ownership.ts";
import { startLagMeter } from "./loop-lag.ts";

/**
 * The process under measurement: `server <data directory> [options as JSON]`, `untracked` or `metered` with the same
 * arguments, or `bare <bytes> <chunks>`. Prints one line of JSON when it serves. `untracked` does not track fields,
 * `metered` measures the turns of its event loop. `bare` is the listener alone, which answers `/object` with that many
 * bytes and `/list` with that many chunks of them: the limit of the machine with this HTTP stack and these bytes.
 */
const [mode, first = "", second = ""] = Bun.argv.slice(2);

if (mode === "untracked") FieldOwnership.prototype.afterUpdate = () => undefined;
if (mode === "server" || mode === "untracked" || mode === "metered") {
  const options = JSON.parse(second || "{}") as ServerOptions;
  const place = options.inMemory === true ? {} : { dataDir: first };
  const server = await startServer({ ...place, securePort: 0, ...options });
  announce(server.url, server.token, mode === "metered" ? startLagMeter() : undefined);
} else {
  const object = crypto.getRandomValues(new Uint8Array(Number(first)));
  const slab = 256 * 1024;
  const total = Number(first) * Number(second);
  const list = Array.from(
    { length: Math.ceil(total / slab) },
    (_, at) => new Uint8Array(Math.min(slab, total - at * slab)),
  );
  const dayMs = 86_400_000;
  const validity = { notBeforeMs: Date.now() - dayMs, notAfterMs: Date.now() + dayMs };
  const authority = await createAuthority({ commonName: "bench", ...validity });
  const pair = await issueCertificate(authority, {
    commonName: "bench",
    organizations: [],
    dnsNames: ["localhost"],
    ipAddresses: ["127.0.0.1"],
    usage: "server",
    ...validity,
  });
  const headers = [["content-type", "application/json"]] as const;
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    tls: { key: pair.key, cert: pair.certificate, ca: [] },
    handle: async ({ rawPath }) => ({ kind: "reply", code: 200, headers, body: rawPath === "/list" ? list : object }),
  });
  announce(`https://127.0.0.1:${listener.port}`, "none");
}

function announce(url: string, token: string, lagUrl?: string): void {
  process.stdout.write(`${JSON.stringify({ url, token, lagUrl })}\n`);
}
