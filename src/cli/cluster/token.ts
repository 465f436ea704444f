import { isJsonObject } from "../../api/json.ts";
import type { ClusterClient } from "../../cluster/cluster-client.ts";
import { tableLines } from "../table.ts";
import type { Terminal } from "../terminal.ts";
import { joinCommand } from "./join-command.ts";

export interface TokenOptions {
  readonly ttlSeconds: number | undefined;
  readonly description: string | undefined;
}

/** Runs `quorate cluster token create`, and prints the command to type on the new machine. */
export async function createToken(client: ClusterClient, options: TokenOptions, terminal: Terminal): Promise<number> {
  const { ttlSeconds, description } = options;
  const body = {
    ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
    ...(description === undefined ? {} : { description }),
  };
  const { token, caHash, expiration, endpoints } = await client.change({
    method: "POST",
    path: "/cluster/tokens",
    body,
  });
  const [first] = (Array.isArray(endpoints) ? endpoints : []).filter((url) => typeof url === "string" && url !== "");
  const endpoint = typeof first === "string" ? first : client.url;
  terminal.complain(`run this on each new machine before ${expiration}, with the address where the others reach it:`);
  const flags = { "peer-address": "<address>:7380" };
  terminal.print(joinCommand({ endpoint, token: String(token), caHash: String(caHash), flags }));
  return 0;
}

/** Runs `quorate cluster token list`. It never prints secrets. */
export async function listTokens(client: ClusterClient, terminal: Terminal): Promise<number> {
  const { items } = await client.get("/cluster/tokens");
  const tokens = (Array.isArray(items) ? items : []).filter(isJsonObject);
  const rows = tokens.map(({ id, expiration, description }) =>
    [id, expiration, description].map((cell) => String(cell ?? "")),
  );
  for (const line of tableLines([["ID", "EXPIRES", "DESCRIPTION"], ...rows])) terminal.print(line);
  return 0;
}
