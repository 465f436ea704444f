import type { PersistentVolumeClaim, Pod, Volume } from "../api/types/core-v1.ts";

/** Returns the name of the claim of an ephemeral volume. */
export function ephemeralClaimName(pod: Pod, { name }: Volume): string {
  return `${pod.metadata.name}-${name}`;
}

/** Reports whether the pod controls a claim, so that the claim was made for it and not only has its name. */
export function isControlledByPod(pod: Pod, { metadata }: PersistentVolumeClaim): boolean {
  return (metadata.ownerReferences ?? []).some(
    ({ controller, uid }) => controller === true && uid === pod.metadata.uid,
  );
}

/** Reports whether the claim was made for this ephemeral volume. */
export function isClaimOfPod(pod: Pod, volume: Volume, claim: PersistentVolumeClaim): boolean {
  return (
    volume.ephemeral !== undefined &&
    ephemeralClaimName(pod, volume) === claim.metadata.name &&
    isControlledByPod(pod, claim)
  );
}
