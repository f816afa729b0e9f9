// Who records opens and clicks of a sending config. This file imports nothing, so that the code
// that renders mail, and the console, do not load the providers.
export const trackingModes = ["provider", "own", "off"] as const;
export type TrackingMode = (typeof trackingModes)[number];

/** A config without a mode gets that of its provider: an SMTP server reports nothing. */
export const trackingOf = ({
  tracking,
  provider,
}: {
  tracking?: TrackingMode | undefined;
  provider: string;
}): TrackingMode => tracking ?? (provider === "smtp" ? "own" : "provider");
