function(wanted) {
    // Call the prototype's functions: a form's fields can shadow its properties.
    const get = (one, name) => Element.prototype.getAttribute.call(one, name);
    const has = (one, name) => Element.prototype.hasAttribute.call(one, name);
    const is = (one, what) => one.nodeType === 1 && Element.prototype.matches.call(one, what);
    // Remove invisible characters first, so that they displace nothing.
    const text = (value) => String(value == null ? '' : value).replace(/(?![\u202d\u202e])[\p{Cf}\p{DI}\u2800]/gu, '').trim().replace(/\s+/g, ' ').slice(0, 4000);
    // The parent in the rendered tree: through slots and out of shadow roots.
    const above = (one) => one.assignedSlot || one.parentNode || one.host || null;
    const near = (one, what) => { for (; one; one = above(one)) if (is(one, what)) return one; return null; };
    const control = 'a,area,button,input,select,textarea,option,optgroup,label,summary';
    const widget = '[role=button],[role=link],[role=menuitem],[role=menuitemcheckbox],[role=menuitemradio],[role=option],[role=tab],[role=checkbox],[role=radio],[role=switch],[role=treeitem]';
    const start = near(this, '*');
    if (!start) return null;
    const here = start.ownerDocument;
    let one = near(start, control);
    // Clicking a label inside a button clicks the button.
    if (one && one.localName === 'label') one = near(above(one), 'a[href],area[href],button,summary') || one.control || one;
    const native = one;
    one = one || start;

    // The text on an element, without that of other controls inside it: a row does not do what its controls do.
    // All text inside a control is the control's.
    const shown = (it) => {
        const words = [], whole = is(it, control);
        const walk = (node, depth) => {
            if (depth > 200 || words.length > 2000) return;
            if (node.nodeType === 3) words.push(node.data);
            if (node.nodeType !== 1 && node.nodeType !== 11) return;
            if (node.nodeType === 1 && (is(node, 'style,script,noscript,template') || !whole && node !== it && is(node, control + ',' + widget))) return;
            const inner = node.localName === 'slot' ? node.assignedNodes({ flatten: true }) : [...(node.shadowRoot ? node.shadowRoot.childNodes : []), ...node.childNodes];
            for (const child of inner) walk(child, depth + 1);
        };
        walk(it, 0);
        return text(words.join(' '));
    };
    const pressed = (it) => it.localName === 'button' || it.localName === 'input' && ['submit', 'image', 'button', 'reset'].includes(it.type);
    const named = (it) => (get(it, 'aria-labelledby') || '').split(/\s+/).filter(Boolean).slice(0, 8)
        .map((id) => { const root = it.getRootNode(); const by = root.getElementById ? root.getElementById(id) : null; return by ? by.textContent : ''; });
    const words = (it) => [get(it, 'aria-label'), ...named(it), get(it, 'title'), get(it, 'alt'), pressed(it) ? it.value : '',
        is(it, 'html,body') || is(it, 'input,select,textarea') && !pressed(it) ? '' : shown(it),
        ...[...it.querySelectorAll('img[alt],[aria-label],[title]')].filter((in_it) => near(in_it, control + ',' + widget) === null || near(in_it, control + ',' + widget) === it)
            .slice(0, 8).map((in_it) => get(in_it, 'alt') || get(in_it, 'aria-label') || get(in_it, 'title')),
        ...[...it.querySelectorAll('svg title')].slice(0, 4).map((in_it) => in_it.textContent)].map(text).filter(Boolean);
    // Every element that a click propagates to, up to the control: the most dangerous counts.
    const around = [];
    if (!native) for (let it = start; it && it !== here.body; it = above(it)) {
        if (it.nodeType !== 1) continue;
        const acts = is(it, widget) || has(it, 'onclick') || Number(get(it, 'tabindex') ?? -1) >= 0;
        if (it !== start && acts) around.push(...words(it));
        if (is(it, widget)) break;
    }

    const label = (it) => text([get(it, 'aria-label'), ...named(it), ...(it.labels ? [...it.labels].map((l) => l.textContent) : []),
        get(it, 'placeholder'), get(it, 'title')].filter(Boolean).join(' '));
    const field = (it) => ({ kind: text(it.type), autocomplete: text(get(it, 'autocomplete')),
        attributes: text([get(it, 'name'), get(it, 'id')].filter(Boolean).join(' ')), name: label(it) });
    const seen = (it) => it.getClientRects().length > 0;
    const all = [];
    const gather = (root, depth) => {
        if (!root || depth > 16) return;
        for (const it of root.querySelectorAll('*')) {
            if (is(it, 'input,select,textarea,button')) all.push(it);
            if (it.shadowRoot) gather(it.shadowRoot, depth + 1);
        }
    };
    gather(here, 0);
    // A closed root that contains it can be reached only from here.
    for (let root = one.getRootNode(); root !== here && root.host; root = root.host.getRootNode()) if (!root.host.shadowRoot) gather(root, 0);
    const submits = (it) => (it.localName === 'button' || it.localName === 'input') && (it.type === 'submit' || it.type === 'image');
    const resolved = (address) => { try { return new URL(address, here.baseURI).href; } catch { return String(address); } };
    const form_of = (it) => it.form || near(it, 'form');
    const form = form_of(one) || null;
    const own = form ? all.filter((it) => form_of(it) === form) : [];
    const action = (has(one, 'formaction') && get(one, 'formaction')) || (form && get(form, 'action')) || '';
    const href = one.localName === 'a' || one.localName === 'area' ? get(one, 'href') : null;
    const editing = one.localName === 'textarea' || one.isContentEditable ? 'lines'
        : one.localName === 'input' && ['', 'text', 'search', 'email', 'url', 'tel', 'password', 'number'].includes(one.type) ? 'line' : 'none';
    // Everything in an editor is editable, yet an element in between, or the editor, may react to clicks.
    // Listeners cannot be queried; without a text cursor, a click is assumed to be intended.
    const presses = (it) => is(it, 'button,input,select,summary,a[href],area[href],' + widget)
        || ['onclick', 'onmousedown', 'onmouseup', 'onpointerdown', 'onpointerup'].some((name) => has(it, name)) || getComputedStyle(it).cursor === 'pointer';
    let pressable = false;
    for (let it = one; one.isContentEditable && it && (it.nodeType !== 1 || it.isContentEditable); it = above(it)) if (it.nodeType === 1 && presses(it)) pressable = true;
    const fold = (value) => text(value).toLowerCase();
    const options = one.localName === 'select' && wanted ? [...one.options].filter((it) =>
        wanted.some((want) => it.value === want || fold(it.text) === fold(want) || fold(it.label) === fold(want))).map((it) => text(it.text + ' ' + it.label)) : [];
    const heard = (it) => it && (has(it, 'onchange') || has(it, 'oninput'));
    return {
        tag: one.localName,
        frame: ['iframe', 'frame', 'object', 'embed', 'portal'].includes(one.localName),
        texts: [...words(one), ...around],
        field: field(one),
        editing,
        pressed: pressable,
        holds: editing === 'none' || one.type === 'password' ? '' : String('value' in one ? one.value : one.textContent).slice(-20000),
        href: href === null ? null : resolved(href),
        download: href !== null && has(one, 'download') ? get(one, 'download') : null,
        changes: !!(heard(one) || heard(form)),
        form: form && {
            fields: own.filter((it) => !pressed(it) && seen(it)).slice(0, 100).map(field),
            method: text(get(form, 'method')),
            action: action ? resolved(action) : '',
            submits: own.filter(submits).slice(0, 20).map((it) => words(it).join(' ')),
        },
        loose: all.filter((it) => !form_of(it) && !pressed(it) && seen(it)).slice(0, 100).map(field),
        everywhere: all.filter((it) => !pressed(it) && seen(it)).slice(0, 400).map(field),
        options,
        language: text(here.documentElement && get(here.documentElement, 'lang')),
    };
}
