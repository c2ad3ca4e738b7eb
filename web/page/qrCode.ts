// A QR code as a picture that is dark on light, whatever the theme.
import { generate } from 'lean-qr';
import { toSvgPath } from 'lean-qr/extras/svg';
import { svg, type TemplateResult } from 'lit';

/** The code of an address; undefined if it is too long for one. */
export function qrCode(address: string): TemplateResult | undefined {
  let code: ReturnType<typeof generate>;
  try {
    code = generate(address);
  } catch {
    return undefined;
  }
  const { size } = code;
  const room = size + 8;
  return svg`<svg role="img" aria-label="QR code of this state" viewBox="-4 -4 ${room} ${room}">
    <path class="ground" d="M-4-4h${room}v${room}h-${room}z" /><path d=${toSvgPath(code)} /></svg>`;
}
