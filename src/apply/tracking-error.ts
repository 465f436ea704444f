/** Fields cannot be tracked: the document does not fit its schema, or cannot be converted to another version. */
export class TrackingError extends Error {}
