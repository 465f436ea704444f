import { StartupError } from "../../../process/startup-error.ts";
import type { ServerAddress } from "./grpc/grpc-socket.ts";

/** An address of etcd from `--etcd-servers`. */
export interface EtcdEndpoint {
  /** As given, for messages. */
  readonly url: string;
  readonly address: ServerAddress;
  /** The name that the server's certificate must have. */
  readonly host: string;
  readonly isSecure: boolean;
}

/** Maximum number of endpoints. */
const endpointsMax = 32;

/** Reads the endpoints of a flag. @throws StartupError */
export function parseEndpoints(urls: readonly string[], flag: string): readonly EtcdEndpoint[] {
  if (urls.length > endpointsMax) {
    throw new StartupError(`${flag}: ${urls.length} endpoints are given, and at most ${endpointsMax} are used`);
  }
  return urls.map((url) => parseEndpoint(url, flag));
}

function parseEndpoint(url: string, flag: string): EtcdEndpoint {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  switch (parsed?.protocol) {
    case "http:":
    case "https:": {
      const isSecure = parsed.protocol === "https:";
      const { hostname } = parsed;
      // The URL drops the port of its scheme.
      const port = parsed.port === "" ? (isSecure ? 443 : 80) : Number(parsed.port);
      const host = hostname.replace(/^\[|\]$/g, "");
      return { url, address: { host, port }, host, isSecure };
    }
    case "unix:":
    case "unixs:": {
      const path = `${parsed.host}${parsed.pathname}`;
      return { url, address: { path }, host: "localhost", isSecure: parsed.protocol === "unixs:" };
    }
    default:
      throw new StartupError(
        `${flag}: ${JSON.stringify(url)} is not the address of an etcd server: give one such as https://10.0.0.1:2379`,
      );
  }
}
