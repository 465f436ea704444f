import { httpClient } from "../../src/client/http-client.ts";
import { clientContract } from "./client-contract.ts";

clientContract("the client in the process of the server", (server, user) =>
  server.client(user === undefined ? undefined : { name: user }),
);

clientContract("the client over HTTP", ({ url, ca, token }, user) =>
  httpClient({
    url,
    proof: async () => ({
      tls: { ca, rejectUnauthorized: true },
      authorization: user === undefined ? `Bearer ${token}` : undefined,
    }),
    renew: () => false,
  }),
);
