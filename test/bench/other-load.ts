import { type Load, load } from "./load.ts";

/** Runs a load in a separate process: `<url> <token> <load as JSON>`. */
const [url = "", token = "", options = "{}"] = Bun.argv.slice(2);
await load({ url, token }, JSON.parse(options) as Load);
process.exit(0);
