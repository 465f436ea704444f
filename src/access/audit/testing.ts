import { parseRequestInfo } from "../../http/parse-request-info.ts";
import { unknownObject } from "../../request/annotations.ts";
import type { IncomingRequest } from "../../request/exchange.ts";
import { type AuditEvent, writeEvent } from "./event.ts";
import { LineBuffer } from "./line-buffer.ts";

export function testRequest(
  headers: IncomingRequest["headers"],
  rawPath = "/api/v1/namespaces/ns/pods/p",
): IncomingRequest {
  const none = { kind: "none" } as const;
  const rest = { peer: none, remoteAddress: "10.0.0.1", httpVersion: "2" as const, body: async () => new Uint8Array() };
  return { method: "GET", rawPath, headers, signal: new AbortController().signal, isAborted: false, ...rest };
}

export function testEvent(more: Partial<AuditEvent> = {}): AuditEvent {
  const incoming = more.request ?? testRequest([["user-agent", "x/1"]]);
  return {
    level: "Metadata",
    auditId: "id-1",
    stage: "ResponseComplete",
    info: parseRequestInfo("GET", "/api/v1/namespaces/ns/pods/p"),
    user: { name: "u", uid: "1", groups: ["g"], extra: new Map([["k", ["v"]]]) },
    impersonatedUser: undefined,
    impersonationConstraint: "",
    object: unknownObject,
    responseStatus: '{"metadata":{},"code":200}',
    requestObject: undefined,
    responseObject: undefined,
    receivedMs: 1_000,
    stageMs: 2_500,
    annotations: { decision: "allow", reason: "why", more: undefined },
    ...more,
    request: incoming,
  };
}

/** Encodes an event as a line. */
export function eventText(event: AuditEvent): string {
  const out = new LineBuffer(16);
  writeEvent(out, event);
  return out.toString();
}
