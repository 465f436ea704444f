import { describe, expect, test } from "bun:test";
import { createAuthority } from "../../../access/certificates/authority.ts";
import { fieldErrorText } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import type { Strategy } from "../../../registry/strategy.ts";
import { certificateApprovalStrategy, certificateStatusStrategy } from "../certificate-signing-request-status.ts";

const nowMs = Date.parse("2026-01-01T00:00:00Z");
const now = "2026-01-01T00:00:00Z";
const before = "2025-01-01T00:00:00Z";

function request(status: JsonObject, more: Partial<KubeObject> = {}): KubeObject {
  return {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "r" },
    spec: { signerName: "example.com/s" },
    status,
    ...more,
  };
}

function write(strategy: Strategy, fresh: JsonObject, old: JsonObject): { object: KubeObject; errors: string[] } {
  const object = request(fresh, { spec: { signerName: "other" } });
  strategy.prepareForUpdate(object, request(old), nowMs);
  return { object, errors: strategy.validateUpdate(object, request(old)).map(fieldErrorText) };
}

function condition(type: string, more: JsonObject = {}): JsonObject {
  return { type, status: "True", lastUpdateTime: before, lastTransitionTime: before, ...more };
}

const authority = createAuthority({ commonName: "test", notBeforeMs: nowMs, notAfterMs: nowMs + 86_400_000 });
const certificate = Buffer.from(authority.certificate).toString("base64");

describe("certificatesigningrequests/approval", () => {
  test("changes conditions alone, and fills in their times", () => {
    const { object, errors } = write(
      certificateApprovalStrategy,
      { certificate: "eA==", conditions: [{ type: "Approved", status: "True", reason: "r" }] },
      { certificate: "eQ==" },
    );
    expect(errors).toEqual([]);
    expect(object).toEqual(
      request({
        certificate: "eQ==",
        conditions: [{ type: "Approved", status: "True", reason: "r", lastUpdateTime: now, lastTransitionTime: now }],
      }),
    );
  });

  const cases: [JsonObject[], JsonObject[], string[]][] = [
    [
      [],
      [condition("Approved")],
      ['status.conditions: Forbidden: updates may not remove a condition of type "Approved"'],
    ],
    [
      [condition("Approved"), condition("Denied")],
      [],
      ['status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive'],
    ],
    [
      [condition("Denied", { status: "False" })],
      [],
      ['status.conditions[0].status: Unsupported value: "False": supported values: "True"'],
    ],
    [[condition("")], [], ["status.conditions[0].type: Required value"]],
    [[condition("x", { status: "" })], [], ["status.conditions[0].status: Required value"]],
    [[condition("x"), condition("x")], [], ['status.conditions[1].type: Duplicate value: "x"']],
    [[condition("x", { status: "False" }), condition("Denied")], [condition("x")], []],
  ];
  test.each(cases)("to %j from %j", (fresh, old, expected) => {
    expect(write(certificateApprovalStrategy, { conditions: fresh }, { conditions: old }).errors).toEqual(expected);
  });
});

describe("certificatesigningrequests/status", () => {
  test("takes the certificate and keeps the decision as it was made", () => {
    const { object, errors } = write(
      certificateStatusStrategy,
      {
        certificate,
        conditions: [
          { type: "Approved", status: "True" },
          { type: "Issued", status: "True" },
        ],
      },
      { conditions: [condition("Approved", { reason: "r" })] },
    );
    expect(errors).toEqual([]);
    expect(object["spec"]).toEqual({ signerName: "example.com/s" });
    expect(object["status"]).toEqual({
      certificate,
      conditions: [
        condition("Approved", { reason: "r" }),
        condition("Issued", { lastUpdateTime: now, lastTransitionTime: now }),
      ],
    });
  });

  const encoded = (text: string) => Buffer.from(text).toString("base64");
  const pem = (type: string, body = "AAAA") => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;
  const cases: [JsonObject, JsonObject, string[]][] = [
    [
      { conditions: [condition("Approved")] },
      {},
      ['status.conditions: Forbidden: updates may not add a condition of type "Approved"'],
    ],
    [
      {},
      { conditions: [condition("Failed")] },
      ['status.conditions: Forbidden: updates may not remove a condition of type "Failed"'],
    ],
    [{ conditions: [condition("Failed")] }, {}, []],
    [
      { certificate: "eA==" },
      { certificate },
      [
        'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
        "status.certificate: Forbidden: updates may not modify existing certificate content",
      ],
    ],
    [{ certificate }, { certificate }, []],
    [
      { certificate: encoded("no pem") },
      {},
      ['status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block'],
    ],
    [
      { certificate: encoded(pem("RSA PRIVATE KEY")) },
      {},
      [
        'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "RSA PRIVATE KEY"',
      ],
    ],
    [
      { certificate: encoded(pem("CERTIFICATE", "a: b\n\nAAAA")) },
      {},
      ['status.certificate: Invalid value: "<certificate data>": no PEM block headers are permitted'],
    ],
    [
      { certificate: encoded(pem("CERTIFICATE")) },
      {},
      ['status.certificate: Invalid value: "<certificate data>": a PEM block is no certificate'],
    ],
    [
      { certificate: encoded(`${authority.certificate}${pem("CERTIFICATE").replace("-----END", "x-----END")}`) },
      {},
      // Everything outside the blocks is plain text.
      [],
    ],
  ];
  test.each(cases)("to %j from %j", (fresh, old, expected) => {
    expect(write(certificateStatusStrategy, fresh, old).errors).toEqual(expected);
  });
});
