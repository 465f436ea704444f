import { isJsonObject, type JsonObject } from "../../../api/json.ts";

export function defaultCsiDriver(driver: JsonObject): void {
  const spec = driver["spec"];
  if (!isJsonObject(spec)) return;
  spec["attachRequired"] ??= true;
  spec["podInfoOnMount"] ??= false;
  spec["storageCapacity"] ??= false;
  spec["fsGroupPolicy"] ??= "ReadWriteOnceWithFSType";
  const modes = spec["volumeLifecycleModes"];
  if (!Array.isArray(modes) || modes.length === 0) spec["volumeLifecycleModes"] = ["Persistent"];
  spec["requiresRepublish"] ??= false;
  spec["seLinuxMount"] ??= false;
}
