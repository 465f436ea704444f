import { startServer } from "../../src/index.ts";

/** Serves the data directory given until it is killed; tells its parent in one line of JSON how to reach it. */
const [dataDir] = Bun.argv.slice(2) as [string];
// The test counts ConfigMaps: only its own may be there.
const controllers = "*,-root-ca-certificate-publisher-controller";
const { url, token, ca } = await startServer({ dataDir, controllers });
console.log(JSON.stringify({ url, token, ca }));
