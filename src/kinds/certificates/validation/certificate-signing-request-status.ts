import { X509Certificate } from "node:crypto";
import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { pemBlocks } from "../../../access/certificates/pem.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { objectsOf, textOf } from "../../../api/validation/fields.ts";

/** Who has decided what: `approval` may enter a decision, `status` may enter its outcome. */
export type CertificateRequestWriter = "approval" | "status";

/** Conditions that stay once they are there. */
const lastingTypes = ["Approved", "Denied", "Failed"];
/** Conditions that only an approver may enter. */
const decisionTypes = ["Approved", "Denied"];
const statuses = ["False", "True", "Unknown"];
const certificateBytesMax = 1024 * 1024;

const field = "status.conditions";

/** Rules of a write through `certificatesigningrequests/approval` or `/status`. */
export function validateCertificateRequestStatus(
  request: KubeObject,
  old: KubeObject,
  writer: CertificateRequestWriter,
): FieldError[] {
  return [
    ...validateConditions(conditionsOf(request), conditionsOf(old)),
    ...validateLasting(request, old, writer),
    ...validateCertificate(request, old),
  ];
}

function validateConditions(conditions: readonly JsonObject[], old: readonly JsonObject[]): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [at, condition] of conditions.entries()) {
    const [type, status] = [textOf(condition["type"]), textOf(condition["status"])];
    errors.push(...validateStatus(type, status, `${field}[${at}]`));
    if (seen.has(type)) errors.push(fieldError.duplicate(`${field}[${at}].type`, type));
    const other = decisionTypes.find((decision) => decision !== type && seen.has(decision));
    const wereBoth = decisionTypes.every((decision) => old.some((one) => one["type"] === decision));
    if (decisionTypes.includes(type) && other !== undefined && !wereBoth) {
      const text = "Approved and Denied conditions are mutually exclusive";
      errors.push(fieldError.invalid(`${field}[${at}].type`, type, text));
    }
    seen.add(type);
  }
  return errors;
}

function validateStatus(type: string, status: string, path: string): FieldError[] {
  const errors = type === "" ? [fieldError.required(`${path}.type`)] : [];
  if (status === "") return [...errors, fieldError.required(`${path}.status`)];
  const supported = lastingTypes.includes(type) ? ["True"] : statuses;
  return supported.includes(status)
    ? errors
    : [...errors, fieldError.notSupported(`${path}.status`, status, supported)];
}

function validateLasting(request: KubeObject, old: KubeObject, writer: CertificateRequestWriter): FieldError[] {
  const errors: FieldError[] = [];
  for (const type of lastingTypes) {
    const before = conditionsOf(old).filter((condition) => condition["type"] === type);
    const after = conditionsOf(request).filter((condition) => condition["type"] === type);
    const quoted = JSON.stringify(type);
    if (after.length < before.length) {
      errors.push(fieldError.forbidden(field, `updates may not remove a condition of type ${quoted}`));
    }
    if (writer === "approval" || !decisionTypes.includes(type)) continue;
    if (after.length > before.length) {
      errors.push(fieldError.forbidden(field, `updates may not add a condition of type ${quoted}`));
    } else if (after.length === before.length && !equalJson(after, before)) {
      errors.push(fieldError.forbidden(field, `updates may not modify a condition of type ${quoted}`));
    }
  }
  return errors;
}

function validateCertificate(request: KubeObject, old: KubeObject): FieldError[] {
  const [issued, before] = [certificateOf(request), certificateOf(old)];
  if (issued === before) return [];
  const path = "status.certificate";
  if (before !== "")
    return [fieldError.forbidden(path, "updates may not set certificate content if one already exists")];
  const problem = problemOf(Buffer.from(issued, "base64"));
  return problem === undefined ? [] : [fieldError.invalid(path, "<certificate data>", problem)];
}

/** One or more CERTIFICATE blocks of PEM without headers, each of which is a certificate. */
function problemOf(pem: Buffer): string | undefined {
  if (pem.byteLength > certificateBytesMax) return `must be at most ${certificateBytesMax} bytes`;
  const blocks = pemBlocks(pem.toString("latin1"));
  for (const { type, hasHeaders, der } of blocks) {
    if (type !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (hasHeaders) return "no PEM block headers are permitted";
    if (!isCertificate(der)) return "a PEM block is no certificate";
  }
  return blocks.length === 0 ? "must contain at least one CERTIFICATE PEM block" : undefined;
}

function isCertificate(der: Buffer): boolean {
  try {
    return new X509Certificate(der).raw.byteLength > 0;
  } catch {
    return false;
  }
}

function conditionsOf(request: KubeObject): JsonObject[] {
  return objectsOf(fieldsOf(request["status"])["conditions"]);
}

function certificateOf(request: KubeObject): string {
  return textOf(fieldsOf(request["status"])["certificate"]);
}
