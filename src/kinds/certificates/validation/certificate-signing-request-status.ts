import { X509Certificate } from "node:crypto";
import { pemBlocks } from "../../../access/certificates/pem.ts";
import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import type * as certificatesV1 from "../../../api/types/certificates-v1.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

/** The subresource of a write: `approval` may enter a decision, `status` its outcome. */
export type CertificateRequestWriter = "approval" | "status";

type Condition = certificatesV1.CertificateSigningRequestCondition;

/** Conditions that stay once they are there. */
const lastingTypes = ["Approved", "Denied", "Failed"];
/** Conditions that only an approver may enter. */
const decisionTypes = ["Approved", "Denied"];
const statuses = ["False", "True", "Unknown"];
const certificateBytesMax = 1024 * 1024;

const field = "status.conditions";

/** Validates a write through `certificatesigningrequests/approval` or `/status`. */
export function validateCertificateRequestStatus(
  request: certificatesV1.CertificateSigningRequest,
  old: certificatesV1.CertificateSigningRequest,
  writer: CertificateRequestWriter,
): FieldError[] {
  const [issued, before] = [request.status?.certificate ?? "", old.status?.certificate ?? ""];
  return [
    ...validateConditions(conditionsOf(request), conditionsOf(old)),
    ...validateContent(issued, before),
    ...validateLasting(request, old, writer),
    ...(issued === before ? [] : validateNew(before, writer)),
  ];
}

/** Mistakes that the stored object has already are tolerated. */
function validateConditions(conditions: readonly Condition[], old: readonly Condition[]): FieldError[] {
  const oldTypes = new Set(old.map(({ type }) => type));
  const allowsBoth = decisionTypes.every((type) => oldTypes.has(type));
  const allowsRepeated = oldTypes.size < old.length;
  const seen = new Set<string>();
  return validateEach(conditions, ({ type, status }, at) => {
    const path = `${field}[${at}]`;
    const errors = type === "" && !oldTypes.has("") ? [fieldError.required(`${path}.type`)] : [];
    errors.push(...validateStatus(type, status, path));
    const other = decisionTypes.find((decision) => decision !== type && seen.has(decision));
    if (decisionTypes.includes(type) && other !== undefined && !allowsBoth) {
      errors.push(fieldError.invalid(field, type, "Approved and Denied conditions are mutually exclusive"));
    }
    if (seen.has(type) && !allowsRepeated) errors.push(fieldError.duplicate(`${path}.type`, type));
    seen.add(type);
    return errors;
  });
}

function validateStatus(type: string, status: string, path: string): FieldError[] {
  if (status === "") return [fieldError.required(`${path}.status`)];
  const supported = lastingTypes.includes(type) ? ["True"] : statuses;
  return supported.includes(status) ? [] : [fieldError.notSupported(`${path}.status`, status, supported)];
}

function validateLasting(
  request: certificatesV1.CertificateSigningRequest,
  old: certificatesV1.CertificateSigningRequest,
  writer: CertificateRequestWriter,
): FieldError[] {
  const kept = lastingTypes.filter((type) => ofType(request, type).length < ofType(old, type).length);
  const errors = kept.map((type) =>
    fieldError.forbidden(field, `updates may not remove a condition of type ${JSON.stringify(type)}`),
  );
  if (writer === "approval") return errors;
  for (const type of decisionTypes) {
    const [after, before] = [ofType(request, type), ofType(old, type)];
    const quoted = JSON.stringify(type);
    if (after.length > before.length) {
      errors.push(fieldError.forbidden(field, `updates may not add a condition of type ${quoted}`));
    } else if (after.length === before.length && !equalJson(after, before)) {
      errors.push(fieldError.forbidden(field, `updates may not modify a condition of type ${quoted}`));
    }
  }
  return errors;
}

/** Ignores content that did not change, or that replaces content that was not a certificate either. */
function validateContent(issued: string, before: string): FieldError[] {
  if (issued === before || issued === "") return [];
  if (before !== "" && problemOf(Buffer.from(before, "base64")) !== undefined) return [];
  const problem = problemOf(Buffer.from(issued, "base64"));
  return problem === undefined ? [] : [fieldError.invalid("status.certificate", "<certificate data>", problem)];
}

function validateNew(before: string, writer: CertificateRequestWriter): FieldError[] {
  const refuse = (text: string) => [fieldError.forbidden("status.certificate", text)];
  if (writer === "approval") return refuse("updates may not set certificate content");
  return before === "" ? [] : refuse("updates may not modify existing certificate content");
}

/** Returns what keeps the text from being CERTIFICATE blocks without headers, each with a certificate. */
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

function conditionsOf({ status }: certificatesV1.CertificateSigningRequest): readonly Condition[] {
  return status?.conditions ?? [];
}

function ofType(request: certificatesV1.CertificateSigningRequest, type: string): Condition[] {
  return conditionsOf(request).filter((condition) => condition.type === type);
}
