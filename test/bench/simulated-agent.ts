import { createAuthority, issueCertificate } from "../../src/access/certificates/authority.ts";
import { openSimulatedNodes } from "../../src/agent/simulated-nodes/simulated-nodes.ts";
import { httpClient } from "../../src/client/http-client.ts";
import { readKubeconfig } from "../../src/client/kubeconfig.ts";
import { systemClock } from "../../src/process/clock.ts";
import { openLog } from "../../src/process/logs.ts";

/** An agent of simulated nodes in its own process: `simulated-agent <kubeconfig> <nodes>`. Prints a line when all are registered. */
const [kubeconfig = "", count = "1"] = Bun.argv.slice(2);
const address = "127.0.0.1";
const dayMs = 86_400_000;
const validity = { notBeforeMs: Date.now() - dayMs, notAfterMs: Date.now() + dayMs };
const authority = createAuthority({ commonName: "bench", ...validity });
const { certificate, key } = issueCertificate(authority, {
  commonName: "bench",
  organizations: [],
  usage: "server",
  dnsNames: [],
  ipAddresses: [address],
  ...validity,
});
const client = httpClient(readKubeconfig(kubeconfig));
const nodes = await openSimulatedNodes({
  client,
  clientOf: () => client,
  names: Array.from({ length: Number(count) }, (_, at) => `node-${at + 1}`),
  address,
  port: 0,
  tls: { cert: certificate, key, ca: [] },
  seed: 1,
  clock: systemClock,
  log: openLog({ verbosity: 0 }),
  onError: (error) => console.error(error),
});
await nodes.registered;
console.log("registered");
