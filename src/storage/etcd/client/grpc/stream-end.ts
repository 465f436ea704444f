/** How a stream ended. */
export type StreamEnd =
  /** The server has answered with a gRPC status. */
  | { readonly kind: "status"; readonly code: number; readonly message: string }
  /** The server has not processed anything of it. */
  | { readonly kind: "unprocessed"; readonly reason: string }
  /** It ended without a status, so its outcome is unknown. */
  | { readonly kind: "broken"; readonly reason: string };

/** Numbers of the gRPC status codes that are told apart. */
export const grpcCode = {
  ok: 0,
  invalidArgument: 3,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  unauthenticated: 16,
} as const;

/** Reads the end of a stream from its last header block. */
export function endOf(fields: ReadonlyMap<string, string>): StreamEnd {
  const status = fields.get(":status") ?? "200";
  const text = fields.get("grpc-status") ?? "";
  const code = /^\d+$/.test(text) ? Number(text) : undefined;
  const isContradictory = code === grpcCode.ok && status !== "200";
  if (code === undefined || isContradictory) {
    const answer = status === "200" ? "an answer without a gRPC status" : `HTTP status ${status}`;
    return { kind: "broken", reason: `the server sent ${answer}` };
  }
  return { kind: "status", code, message: decodePercents(fields.get("grpc-message") ?? "") };
}

/** Decodes a status message, in which bytes that are not plain ASCII are written as `%` and two digits. */
function decodePercents(text: string): string {
  if (!text.includes("%")) return text;
  const escaped = text.replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(escaped, "latin1").toString();
}
