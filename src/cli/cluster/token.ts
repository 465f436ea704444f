import { isJsonObject } from "../../api/json.ts";
import type { ClusterClient } from "../../cluster/cluster-client.ts";
import { tableLines } from "../table.ts";
import type { Terminal } from "../terminal.ts";
import { joinCommand } from "./join-command.ts";

export interface TokenOptions {
  readonly ttlSeconds: number | undefined;
  readonly description: string | undefined;
}

/** `quorate cluster token create`: what is printed is to be typed on the new machine. */
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
  terminal.complain(`until ${expiration}, type on each new machine, with the address that the others reach it at:`);
  const flags = { "peer-address": "<address>:7380" };
  terminal.print(joinCommand({ endpoint, token: String(token), caHash: String(caHash), flags }));
  return 0;
}

/** `quorate cluster token list`: never the tokens themselves. */
export async function listTokens(client: ClusterClient, terminal: Terminal): Promise<number> {
  const { items } = await client.get("/cluster/tokens");
  const tokens = (Array.isArray(items) ? items : []).filter(isJsonObject);
  const rows = tokens.map(({ id, expiration, description }) =>
    [id, expiration, description].map((cell) => String(cell ?? "")),
  );
  for (const line of tableLines([["ID", "EXPIRES", "DESCRIPTION"], ...rows])) terminal.print(line);
  return 0;
}
