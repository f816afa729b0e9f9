import { Autocomplete, NumberInput, Select, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { CampaignDetail } from "pennymail";
import { useState } from "react";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { SavedText } from "../../parts/saved-text.tsx";
import type { ChoiceProps } from "./campaign-draft.tsx";

type Conversion = NonNullable<CampaignDetail["conversion"]>;

const causes: { value: Conversion["after"]; label: string }[] = [
  { value: "click", label: t("a click") },
  { value: "open", label: t("an open or a click") },
  { value: "delivery", label: t("the email, whatever they did") },
];

const windows = [1, 3, 7, 14, 30];
const nameDays = (count: number): string =>
  t("{count, plural, one {# day} other {# days}}", { count });

/** The event that the campaign is for, such as an order, and its revenue. */
export function ConversionChoice({ campaign, onChange }: ChoiceProps) {
  const { siteId, conversion } = campaign;
  const names = useQuery(queries.eventNames(siteId)).data ?? [];
  const [isOpen, setOpen] = useState(conversion !== null);
  const [name, setName] = useState(conversion?.eventName ?? "");
  const saveName = (text: string) => {
    const eventName = text.trim();
    if (!eventName || eventName === conversion?.eventName) return;
    onChange({ conversion: { ...(conversion ?? { after: "click", windowDays: 7 }), eventName } });
  };
  return (
    <>
      <Switch
        label={t("Count conversions")}
        description={t("How many contacts order, sign up or do something else afterwards.")}
        checked={isOpen}
        onChange={({ currentTarget }) => {
          setOpen(currentTarget.checked);
          if (!currentTarget.checked) onChange({ conversion: null });
        }}
      />
      {isOpen && (
        <div className="field-grid">
          <Autocomplete
            label={t("Custom event")}
            description={t("Your shop or website records it.")}
            placeholder="order_placed"
            maxLength={100}
            data={names}
            value={name}
            onChange={setName}
            onOptionSubmit={saveName}
            onBlur={() => saveName(name)}
          />
          {conversion && (
            <Rules conversion={conversion} onChange={(next) => onChange({ conversion: next })} />
          )}
        </div>
      )}
    </>
  );
}

interface RulesProps {
  conversion: Conversion;
  onChange(conversion: Conversion): void;
}

function Rules({ conversion, onChange }: RulesProps) {
  const { after, windowDays, valueProperty, currency } = conversion;
  const days = [...new Set([...windows, windowDays])].sort((a, b) => a - b);
  return (
    <>
      <Select
        label={t("It counts after")}
        allowDeselect={false}
        data={causes}
        value={after}
        onChange={(value) => onChange({ ...conversion, after: value as Conversion["after"] })}
      />
      <Select
        label={t("Within")}
        allowDeselect={false}
        data={days.map((count) => ({ value: String(count), label: nameDays(count) }))}
        value={String(windowDays)}
        onChange={(value) => onChange({ ...conversion, windowDays: Number(value) })}
      />
      <RevenueFields
        key={`${valueProperty} ${currency}`}
        conversion={conversion}
        onChange={onChange}
      />
    </>
  );
}

/** Property and currency are saved together, because neither works alone. */
function RevenueFields({ conversion, onChange }: RulesProps) {
  const [property, setProperty] = useState(conversion.valueProperty ?? "");
  const save = (valueProperty: string, currency: string) => {
    setProperty(valueProperty);
    const { valueProperty: _, currency: __, currencyProperty, ...others } = conversion;
    if (!valueProperty) return onChange(others);
    onChange({ ...others, valueProperty, currency, ...(currencyProperty && { currencyProperty }) });
  };
  const currency = conversion.currency ?? "EUR";
  return (
    <>
      <SavedText
        label={t("Property with the revenue (optional)")}
        placeholder="order_total"
        maxLength={100}
        value={property}
        onSave={(text) => save(text ?? "", currency)}
      />
      {property && (
        <Select
          label={t("Currency")}
          searchable
          allowDeselect={false}
          data={Intl.supportedValuesOf("currency")}
          value={currency}
          onChange={(code) => code && save(property, code)}
        />
      )}
    </>
  );
}

/** Contacts who get nothing, so that the effect of the email can be seen. */
export function HoldOutChoice({ campaign: { holdOutPercent, purpose }, onChange }: ChoiceProps) {
  if (purpose === "notice") return null;
  return (
    <NumberInput
      key={holdOutPercent}
      label={t("Hold-out group (optional)")}
      description={t(
        "This part of the audience gets no email. The result compares their conversions with " +
          "those of the others.",
      )}
      placeholder={t("Everyone gets the email")}
      suffix=" %"
      min={1}
      max={50}
      allowDecimal={false}
      defaultValue={holdOutPercent ?? ""}
      onBlur={({ currentTarget }) => {
        const percent = Number.parseInt(currentTarget.value, 10) || null;
        if (percent !== holdOutPercent) onChange({ holdOutPercent: percent });
      }}
    />
  );
}
