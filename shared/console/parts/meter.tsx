import { formatRate } from "../format.ts";
import { t } from "../language/translate.ts";

interface MeterProps {
  label: string;
  /** Both from 0 to 1. */
  rate: number;
  limit: number;
  digits?: number;
}

/** A rate against the limit that providers tolerate. */
export function Meter({ label, rate, limit, digits = 1 }: MeterProps) {
  const text = formatRate(rate, digits);
  const limitText = formatRate(limit, digits);
  return (
    <div className="meter-row">
      <span>{label}</span>
      <strong>{text}</strong>
      <meter
        min={0}
        max={limit}
        high={limit * 0.75}
        value={rate}
        aria-label={t("{label}: {text}, limit {limitText}", { label, text, limitText })}
      />
      <small>{t("Limit {limitText}", { limitText })}</small>
    </div>
  );
}
