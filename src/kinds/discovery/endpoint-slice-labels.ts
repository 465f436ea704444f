/** Label of an EndpointSlice with the name of its Service. */
export const serviceNameLabel = "kubernetes.io/service-name";
/** Label with the controller that maintains the EndpointSlice. Others leave it alone. */
export const managedByLabel = "endpointslice.kubernetes.io/managed-by";
