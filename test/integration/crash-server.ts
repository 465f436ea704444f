import { startServer } from "../../src/index.ts";

/** Serves a data directory until it is killed. Prints one line of JSON with its address and credentials. */
const [dataDir] = Bun.argv.slice(2) as [string];
// The test counts ConfigMaps, so the server must not create any.
const controllers = "*,-root-ca-certificate-publisher-controller";
const { url, token, ca } = await startServer({ dataDir, controllers });
console.log(JSON.stringify({ url, token, ca }));
