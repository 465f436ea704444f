import { isJsonObject, type JsonObject } from "../api/json.ts";
import type { KeyPair } from "../pki/authority.ts";
import { type CertificatePin, pinOf } from "../pki/certificate-pin.ts";
import { belongTogether } from "../pki/kept-pair.ts";
import { RotationError, type RotationPhase } from "../pki/peer-identity.ts";
import { ClusterError } from "../storage/cluster.ts";

/** The authority that a member knows the others by, and the way to another one: see `PeerIdentity`. */
export interface PeerAuthority {
  readonly authority: KeyPair;
  readonly phase: RotationPhase;
  trust(next: KeyPair): Promise<void>;
  use(): Promise<void>;
  drop(): Promise<void>;
}

export interface PeerAuthorityStatus {
  readonly phase: RotationPhase;
  readonly authority: CertificatePin;
}

export type RotationStep = { readonly step: "trust"; readonly authority: KeyPair } | { readonly step: "use" | "drop" };

export function peerAuthorityStatus({ authority, phase }: PeerAuthority): PeerAuthorityStatus {
  return { phase, authority: pinOf(authority.certificate) };
}

/** @throws Error that says what is missing or wrong */
export function parsePeerAuthorityStatus({ phase, authority }: JsonObject): PeerAuthorityStatus {
  if (phase !== "none" && phase !== "trusting" && phase !== "using") throw new Error("phase is missing");
  if (typeof authority !== "string") throw new Error("authority is missing");
  return { phase, authority };
}

/** @throws Error that says what is missing or wrong, without the key */
export function parseRotationStep({ step, authority }: JsonObject): RotationStep {
  if (step === "use" || step === "drop") return { step };
  if (step !== "trust") throw new Error("step has to be trust, use or drop");
  const { certificate, key } = isJsonObject(authority) ? authority : {};
  if (typeof certificate !== "string" || typeof key !== "string" || !belongTogether({ certificate, key })) {
    throw new Error("authority has to be a certificate and its key, PEM");
  }
  return { step, authority: { certificate, key } };
}

/** @throws ClusterError for a step that does not follow from where the member is */
export async function takeRotationStep(peers: PeerAuthority, step: RotationStep): Promise<void> {
  try {
    if (step.step === "trust") await peers.trust(step.authority);
    else await peers[step.step]();
  } catch (error) {
    throw error instanceof RotationError ? new ClusterError("conflict", error.message) : error;
  }
}
