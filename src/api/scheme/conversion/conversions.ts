import type { Conversion } from "../resource.ts";
import { autoscalerConversion, type FitsType } from "./autoscaling.ts";
import { eventConversion } from "./events.ts";
import { resourceClaimConversion, resourceClaimTemplateConversion, resourceSliceConversion } from "./resource.ts";

/** By the type of the served version. Versions without an entry have the same fields as the stored one. */
export function conversionOf(typeName: string, fits: FitsType): Conversion | undefined {
  switch (typeName) {
    case "autoscaling/v1.HorizontalPodAutoscaler":
      return autoscalerConversion(fits);
    case "events/v1.Event":
      return eventConversion;
    case "resource/v1beta1.ResourceClaim":
      return resourceClaimConversion;
    case "resource/v1beta1.ResourceClaimTemplate":
      return resourceClaimTemplateConversion;
    case "resource/v1beta1.ResourceSlice":
      return resourceSliceConversion;
    default:
      return undefined;
  }
}
