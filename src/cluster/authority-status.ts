import { X509Certificate } from "node:crypto";
import type { KeyPair } from "../access/certificates/authority.ts";
import { type CertificatePin, parsePin } from "../access/certificates/certificate-pin.ts";
import { belongTogether } from "../access/certificates/kept-pair.ts";
import {
  newestOf,
  phaseOf,
  type RotatingAuthority,
  RotationError,
  type RotationPhase,
  type RotationStep,
  trustedAuthorities,
} from "../access/certificates/rotating-authority.ts";
import { type JsonObject, type JsonValue } from "../api/json.ts";
import { objectOf } from "../api/json-reading.ts";
import { ClusterError } from "../storage/cluster.ts";
import { ClusterRequestError } from "./cluster-client.ts";

/** The phases in order. */
export const phases: readonly RotationPhase[] = ["none", "trusting", "issuing", "using"];

/** The owner of an authority that can be rotated. */
export interface AuthorityHolder {
  readonly rotating: RotatingAuthority;
  rotate(step: RotationStep): Promise<void>;
}

/** The public status of an authority, without secrets. */
export interface AuthorityStatus {
  readonly phase: RotationPhase;
  /** Hash of the newest known authority. */
  readonly newest: CertificatePin;
  /** Trusted certificates as PEM. */
  readonly trusted: readonly string[];
}

export function authorityStatus({ rotating }: AuthorityHolder): AuthorityStatus {
  return { phase: phaseOf(rotating), newest: newestOf(rotating), trusted: trustedAuthorities(rotating) };
}

/** Parses a status. @throws ClusterRequestError for anything else */
export function parseAuthorityStatus({ phase, newest, trusted }: JsonObject): AuthorityStatus {
  const known = phases.find((one) => one === phase);
  if (known === undefined || typeof newest !== "string" || !Array.isArray(trusted)) {
    throw new ClusterRequestError(
      "the answer is not the status of an authority: does this replica run another release?",
    );
  }
  return { phase: known, newest, trusted: trusted.filter((one) => typeof one === "string") };
}

/** Parses a step. @throws Error that names the missing or wrong field, without the key */
export function parseRotationStep({ step, authority, newest: hash }: JsonObject): RotationStep {
  if (step !== "trust" && step !== "issue" && step !== "use" && step !== "drop") {
    throw new Error("step must be trust, issue, use or drop");
  }
  const newest = parseNewest(hash);
  if (step !== "trust") return { step, newest };
  const { certificate, key } = objectOf(authority);
  if (typeof certificate !== "string" || typeof key !== "string" || !isAuthority({ certificate, key })) {
    throw new Error("authority must be the certificate of an authority and its P-256 key, PEM");
  }
  return { step, authority: { certificate: new X509Certificate(certificate).toString(), key }, newest };
}

function parseNewest(hash: JsonValue | undefined): CertificatePin {
  if (typeof hash !== "string")
    throw new Error("newest must be the hash of the newest authority that this replica knows");
  try {
    return parsePin(hash);
  } catch (error) {
    throw new Error(`newest: ${(error as Error).message}`);
  }
}

/** Reports whether the pair can sign for us, because an unsuitable pair would otherwise only fail when it is used. */
function isAuthority(pair: KeyPair): boolean {
  if (!belongTogether(pair) || pair.certificate.match(/-----BEGIN/g)?.length !== 1) return false;
  const { ca, publicKey } = new X509Certificate(pair.certificate);
  const curve = publicKey.asymmetricKeyDetails?.namedCurve;
  return ca && (curve === "prime256v1" || curve === "P-256");
}

/** Takes a rotation step. @throws ClusterError if the step does not follow the replica's phase */
export async function takeRotationStep(holder: AuthorityHolder, step: RotationStep): Promise<void> {
  try {
    await holder.rotate(step);
  } catch (error) {
    throw error instanceof RotationError ? new ClusterError("conflict", error.message) : error;
  }
}
