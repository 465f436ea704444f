import { TextError } from "../../../../api/status.ts";
import {
  type HeaderList,
  headerValues,
  type IncomingRequest,
  type UpgradedSocket,
} from "../../../../request/exchange.ts";

const protocolHeader = "x-stream-protocol-version";

export interface SpdyRequest {
  readonly upgraded: UpgradedSocket;
  /** The protocol that is spoken over the streams. */
  readonly protocol: string;
  /** The headers of the answer that switches to SPDY. */
  readonly headers: HeaderList;
}

/**
 * Parses a request for SPDY/3.1, and chooses the first of the client's protocols that is served.
 * @throws TextError 400 for another request, 403 for other protocols
 */
export function spdyRequest(request: IncomingRequest, served: readonly string[]): SpdyRequest {
  const { upgraded } = request;
  const wanted = headerValues(request, "upgrade").join(",").toLowerCase();
  if (upgraded === undefined || !wanted.includes("spdy/3.1")) throw new TextError(400, "Upgrade request required");
  const offered = headerValues(request, protocolHeader)
    .flatMap((value) => value.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (offered.length === 0) {
    const name = "X-Stream-Protocol-Version";
    throw new TextError(
      400,
      `unable to upgrade: header ${name} does not exist in request with ${request.headers.length} headers`,
    );
  }
  const protocol = offered.find((name) => served.includes(name));
  if (protocol === undefined) {
    throw new TextError(
      403,
      `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(" ")}], server accepts [${served.join(" ")}]`,
      served.map((name) => ["x-accepted-stream-protocol-versions", name]),
    );
  }
  const headers: HeaderList = [
    ["connection", "Upgrade"],
    ["upgrade", "SPDY/3.1"],
    [protocolHeader, protocol],
  ];
  return { upgraded, protocol, headers };
}
