import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { formatGoDuration } from "../../../api/go-duration.ts";
import type { ProbeOutcome } from "./probe-outcome.ts";

const method = "/grpc.health.v1.Health/Check";
const serving = 1;
const statusNames = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

/** Asks a gRPC server for its health, by the standard protocol. */
export async function grpcProbe(authority: string, service: string, timeoutMs: number): Promise<ProbeOutcome> {
  const client = new Client(authority, credentials.createInsecure(), { "grpc.primary_user_agent": "kube-probe/1.36" });
  const deadline = Date.now() + timeoutMs;
  try {
    const health = await new Promise<number>((resolve, reject) => {
      client.makeUnaryRequest(method, encodeRequest, decodeResponse, service, { deadline }, (error, value) =>
        error === null ? resolve(value ?? 0) : reject(error),
      );
    });
    if (health === serving) return { result: "success", output: "service healthy" };
    const name = JSON.stringify(statusNames[health] ?? String(health));
    return { result: "failure", output: `service unhealthy (responded with ${name})` };
  } catch (error) {
    return { result: "failure", output: failureText(error as ServiceError, authority, timeoutMs) };
  } finally {
    client.close();
  }
}

function failureText({ code, details }: ServiceError, authority: string, timeoutMs: number): string {
  const limit = formatGoDuration(BigInt(timeoutMs) * 1_000_000n);
  switch (code) {
    case status.UNIMPLEMENTED:
      return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${details}`;
    case status.UNAVAILABLE:
      return `timeout: failed to connect service ${JSON.stringify(authority)} within ${limit}: context deadline exceeded`;
    case status.DEADLINE_EXCEEDED:
      return `timeout: health rpc did not complete within ${limit}`;
    default:
      return `error: health rpc probe failed: rpc error: code = ${status[code] ?? "Unknown"} desc = ${details}`;
  }
}

/** Encodes `HealthCheckRequest`: field 1 is the name of the service. */
function encodeRequest(service: string): Buffer {
  const name = Buffer.from(service);
  if (name.length === 0) return Buffer.alloc(0);
  return Buffer.concat([Buffer.from([0x0a]), varint(name.length), name]);
}

/** Decodes `HealthCheckResponse`: field 1 is the status, 0 if it is absent. */
function decodeResponse(bytes: Buffer): number {
  return bytes[0] === 0x08 ? (bytes[1] ?? 0) : 0;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}
