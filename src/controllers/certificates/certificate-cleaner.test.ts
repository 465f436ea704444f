import { expect, test } from "bun:test";
import { formatTime } from "../../api/time.ts";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";
import { isOver } from "./certificate-cleaner.ts";

const hourMs = 3_600_000;
const createdMs = Date.parse("2026-01-01T00:00:00Z");

function requestWith(type: string | undefined, certificate?: string): CertificateSigningRequest {
  const lastUpdateTime = formatTime(createdMs);
  const conditions = type === undefined ? [] : [{ type, status: "True", lastUpdateTime }];
  return {
    kind: "CertificateSigningRequest",
    apiVersion: "certificates.k8s.io/v1",
    metadata: { name: "r", creationTimestamp: lastUpdateTime },
    spec: { request: "", signerName: "example.com/a" },
    status: { conditions, ...(certificate !== undefined && { certificate }) },
  };
}

test.each([
  ["without a decision", undefined, undefined, 24],
  ["that is denied", "Denied", undefined, 1],
  ["that failed", "Failed", undefined, 1],
  ["that is approved and has its certificate", "Approved", "unreadable", 1],
  ["that is approved and waits for a signer", "Approved", undefined, 24],
])("a request %s goes after its time", (_, type, certificate, hours) => {
  const request = requestWith(type, certificate);
  expect(isOver(request, createdMs + hours * hourMs)).toBe(false);
  expect(isOver(request, createdMs + hours * hourMs + 1)).toBe(true);
});

test("a request that somebody else has made a note on stays", () => {
  expect(isOver(requestWith("example.com/noted"), createdMs + 1_000 * hourMs)).toBe(false);
});
