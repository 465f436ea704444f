import type { JsonObject } from "../../../api/json.ts";

/** As in the volumes of pods, which these sources of persistent volumes are modelled on. */
export function defaultPersistentIscsi(source: JsonObject): void {
  source["iscsiInterface"] ||= "default";
}

export function defaultPersistentRbd(source: JsonObject): void {
  source["pool"] ||= "rbd";
  source["user"] ||= "admin";
  source["keyring"] ||= "/etc/ceph/keyring";
}

export function defaultPersistentScaleIo(source: JsonObject): void {
  source["storageMode"] ||= "ThinProvisioned";
  source["fsType"] ||= "xfs";
}
