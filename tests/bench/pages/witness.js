// The bench's own observer, the first script of every page and frame: the elements that can really be clicked
// or filled in, those a tool has marked, and the times of inputs. It knows no tool.
(() => {
    const kinds = ['click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'dblclick'];
    const heard = new WeakSet();
    const roots = [];
    const marked = new Set();
    const felt = {};
    const native = 'a[href],area[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=""],[contenteditable=true],[role=button],[role=link],[role=tab],[role=checkbox],[role=menuitem],[tabindex]:not([tabindex="-1"])';

    const add = EventTarget.prototype.addEventListener;
    EventTarget.prototype.addEventListener = function (kind, ...rest) {
        if (kinds.includes(kind) && this instanceof Element) heard.add(this);
        return add.call(this, kind, ...rest);
    };
    const mark = (event) => { const one = event.composedPath()[0]; if (one instanceof Element) marked.add(one); };
    const shadow = Element.prototype.attachShadow;
    Element.prototype.attachShadow = function (how) {
        const root = shadow.call(this, how);
        roots.push(root);
        add.call(root, 'witness-mark', mark, true);
        return root;
    };
    add.call(window, 'witness-mark', mark, true);
    for (const kind of ['mousemove', 'click', 'input']) {
        add.call(window, kind, () => { felt[kind] = performance.timeOrigin + performance.now(); }, true);
    }

    const boxed = (one) => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().width > 0 && one.getBoundingClientRect().height > 0;
    const listens = (one) => heard.has(one) || kinds.some((kind) => one['on' + kind]);
    // A box that its page hides behind its own label is clicked through the label.
    const stands = (one) => one.localName === 'label' && one.control && !boxed(one.control) && boxed(one);
    const all = () => [document, ...roots.filter((root) => root.host.isConnected)].flatMap((root) => [...root.querySelectorAll('*')]);
    const present = () => {
        const basic = new Set(all().filter((one) => !one.disabled && ((one.matches(native) && boxed(one)) || stands(one))));
        // A listener on an element with many targets serves them: React puts its own on the root.
        const many = (one) => [...one.querySelectorAll('*')].filter((inner) => basic.has(inner)).length > 4;
        const more = all().filter((one) => !basic.has(one) && one !== document.body && one !== document.documentElement && listens(one) && boxed(one) && !one.disabled && !one.closest('button,a[href],summary,label') && !many(one));
        return [...basic, ...more];
    };
    const isMarked = (one) => marked.has(one) || [...marked].some((other) => (other.localName === 'label' && other.control === one) || (stands(one) && other === one.control));
    const own = () => {
        const targets = present();
        const missed = targets.filter((one) => !isMarked(one));
        const name = (one) => `${one.localName}${one.id ? '#' + one.id : ''}${one.className && one.className.baseVal === undefined ? '.' + one.className : ''} ${(one.getAttribute('aria-label') || one.textContent || '').trim().slice(0, 30)}`;
        return { present: targets.length, marked: targets.length - missed.length, missed: missed.slice(0, 12).map(name) };
    };
    const whole = async () => {
        const frames = Array.from({ length: window.length }, (_, n) => window[n]);
        const inner = await Promise.all(frames.map((frame) => new Promise((done) => {
            const channel = new MessageChannel();
            channel.port1.onmessage = ({ data }) => done(data);
            setTimeout(() => done({ present: 0, marked: 0, missed: ['a frame that did not answer'] }), 5000);
            frame.postMessage('witness', '*', [channel.port2]);
        })));
        return inner.reduce((sum, one) => ({ present: sum.present + one.present, marked: sum.marked + one.marked, missed: [...sum.missed, ...one.missed] }), own());
    };
    add.call(window, 'message', async (event) => { if (event.data === 'witness') event.ports[0].postMessage(await whole()); });
    window.witness = { whole, felt, forget: () => { for (const kind in felt) delete felt[kind]; } };
})();
