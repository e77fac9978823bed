//! The pages that are acted on.

pub(super) const PAGES: &[(&str, &str)] = &[
    (
        "/guards",
        "<title>Guards</title><style>body{margin:0}</style><div id=plain style='cursor:pointer;width:200px;height:30px' onclick='said.textContent+=\" pressed\"'>Delete account</div>
        <form onsubmit='event.preventDefault(); said.textContent += \" sent\"'><button style='width:200px;height:60px'><span id=a onclick=1 style='display:block'>One half</span><span id=b onclick=1 style='display:block'>Other half</span></button></form>
        <div id=calm style='position:absolute;left:300px;top:0;width:100px;height:100px;background:#eee'>Calm</div>
        <p id=said></p><script>calm.onmousemove = () => { const over = document.createElement('button'); over.textContent = 'Pay'; over.style.cssText = 'position:absolute;left:300px;top:0;width:100px;height:100px'; over.onclick = () => { said.textContent += ' paid'; }; document.body.append(over); };</script>",
    ),
    (
        "/leaving",
        "<title>Leaving</title><main id=all></main><script>all.innerHTML = '<p>of the first page <a href=/other>x</a></p>'.repeat(3000); const go = () => { location.href = 'http://localhost:PORT/late'; };</script>",
    ),
    ("/late", "<title>Secret</title><h1>SECRET of the second page</h1>"),
    (
        "/form",
        "<title>Form</title><h1>Form</h1><form action=/sent onsubmit='event.preventDefault(); said.textContent = \"sent \" + new URLSearchParams(new FormData(this)) + \" \" + event.isTrusted'>
        <input name=name aria-label=Name oninput='log(event)' onkeydown='log(event)' onchange='log(event)'>
        <input name=mail type=email aria-label=Mail value=old@example.org>
        <textarea name=text aria-label=Text>old</textarea>
        <div id=rich contenteditable role=textbox aria-label=Rich>old <b>words</b></div>
        <input name=day type=date aria-label=Day><input name=hour type=time aria-label=Hour>
        <input name=size type=range aria-label=Size min=0 max=10><input name=paint type=color aria-label=Paint>
        <label><input name=tick type=checkbox> Tick</label>
        <label><input name=one type=radio value=a> Alpha</label><label><input name=one type=radio value=b> Beta</label>
        <select name=list aria-label=List><option value=1>One</option><option value=2>Two</option><option value=3 disabled>Three</option></select>
        <select name=many aria-label=Many multiple><option>Red</option><option>Green</option><option>Blue</option></select>
        <input name=shut aria-label=Shut readonly value=shut>
        <button>Send</button></form><p id=said></p><p id=keys></p>
        <script>const log = (event) => { keys.textContent += event.type + (event.key ? ':' + event.key : '') + (event.isTrusted ? ' ' : '! '); };</script>",
    ),
    (
        "/cover",
        "<title>Cover</title><style>header{position:fixed;top:0;left:0;right:0;height:120px;background:#ddd}#lid{position:absolute;left:0;top:200px;width:300px;height:100px;background:#eee}</style>
        <header>Head</header><div style='height:200px'></div><button style='margin:20px' onclick='said.textContent=\"pressed\"'>Below</button>
        <div id=lid aria-label='Cookie wall' role=dialog><button onclick='lid.remove()'>Accept</button></div>
        <div style='height:3000px'></div><button onclick='said.textContent=\"far\"'>Far</button><button style='pointer-events:none'>Dead</button><p id=said></p><div style='height:3000px'></div>",
    ),
    (
        "/shadow",
        "<title>Shadow</title><div id=host></div><p id=said></p><script>
        const root = host.attachShadow({ mode: 'closed' });
        root.innerHTML = '<button>Hidden deep</button><input aria-label=Deep>';
        root.querySelector('button').onclick = (event) => { said.textContent = 'deep ' + event.isTrusted; };
        root.querySelector('input').oninput = (event) => { said.textContent = event.target.value; };
        </script>",
    ),
    (
        "/frames",
        "<title>Frames</title><div style='height:900px'>above</div><iframe src='http://localhost:PORT/inner' style='width:400px;height:200px;border:7px solid'></iframe><div id=lid></div><div style='height:900px'></div>",
    ),
    (
        "/inner",
        "<title>Inner</title><div style='height:400px'>inside</div><input aria-label=Within oninput='said.textContent=this.value'><button onclick='said.textContent=\"in \" + event.isTrusted'>Inside</button><p id=said></p>",
    ),
    (
        "/drag",
        "<title>Drag</title><style>div{width:120px;height:60px;margin:20px;background:#cde;display:inline-block}</style>
        <div id=a draggable=true role=button aria-label='Parcel' ondragstart='event.dataTransfer.setData(\"text/plain\", \"parcel\")'>Parcel</div>
        <div id=b role=button aria-label='Box' ondragover='event.preventDefault()' ondrop='event.preventDefault(); said.textContent = \"dropped \" + event.dataTransfer.getData(\"text/plain\")'>Box</div>
        <div id=c role=button aria-label='Slider' style='position:relative'>Slider</div><p id=said></p><script>
        c.onpointerdown = (down) => { const x = down.clientX; document.onpointermove = (move) => { c.style.left = (move.clientX - x) + 'px'; }; document.onpointerup = () => { document.onpointermove = null; said.textContent = 'moved ' + (parseInt(c.style.left) < -50); }; };
        </script>",
    ),
    (
        "/files",
        "<title>Files</title><input type=file aria-label='One file' onchange='said.textContent = [...this.files].map((f) => f.name + f.size).join()'>
        <input type=file multiple id=pick style='display:none' onchange='said.textContent = \"through \" + this.files.length'><button onclick='pick.click()'>Choose</button><p id=said></p>
        <a download=report.txt href='data:text/plain,hello'>Get it</a>",
    ),
    (
        "/go",
        "<title>Go</title><a href=/there>Go there</a> <a href='#part'>Part</a> <a href=/there target=_blank>New tab</a>
        <button onclick='said.textContent = confirm(\"Sure?\")'>Ask</button><p id=said></p><button onclick='setTimeout(() => { said.textContent = \"late\" }, 300)'>Later</button><p id=part>part</p>",
    ),
    ("/there", "<title>There</title><h1>There</h1><a href=/go>Back</a>"),
    (
        "/stale",
        "<title>Stale</title><h2>Fruit</h2><div id=list><button>Apple</button><button>Pear</button></div><button onclick='list.innerHTML = list.innerHTML; '>Redraw</button><button onclick='list.innerHTML = \"<button>Pear</button><button>Pear</button>\"'>Twice</button><p id=said></p><script>document.onclick = (event) => { said.textContent = event.target.textContent }</script>",
    ),
    (
        "/zoom",
        "<title>Zoom</title><div style='zoom:1.7'><div style='height:700px'></div><button onclick='hit(this)'>Zoomed</button></div>
        <div style='transform:scale(.5) rotate(-20deg);transform-origin:0 0'><div style='height:900px'></div><button onclick='hit(this)'>Turned</button></div>
        <iframe srcdoc='<div style=height:500px></div><button onclick=parent.hit(this)>Framed</button>' style='transform:scale(.8);width:300px;height:120px'></iframe>
        <iframe src='http://localhost:PORT/inner' style='transform:scale(.6);width:400px;height:200px'></iframe>
        <p id=said></p><script>window.hit = (one) => { said.textContent += one.textContent + ' '; }</script>",
    ),
    (
        "/restless",
        "<title>Restless</title><button onclick='setTimeout(() => { said.textContent = \"late\" }, 70)'>Late</button><p id=said></p><div id=host></div>
        <iframe src='http://localhost:PORT/stir' style='width:400px;height:100px'></iframe><script>
        const root = host.attachShadow({ mode: 'closed' });
        root.innerHTML = '<button>Deep</button><p></p>';
        window.heard = '';
        root.querySelector('button').onclick = () => {
            const until = performance.now() + 400, line = new MessageChannel(), said = root.querySelector('p');
            window.heard = 'begun';
            line.port1.onmessage = () => { said.textContent = performance.now(); if (performance.now() < until) line.port2.postMessage(0); else window.heard = 'done'; };
            line.port2.postMessage(0);
        };
        window.onmessage = (event) => { window.heard = event.data; };
        </script>",
    ),
    (
        "/stir",
        "<title>Stir</title><button>Stir</button><p id=said></p><script>
        document.querySelector('button').onclick = () => {
            const until = performance.now() + 400, line = new MessageChannel();
            parent.postMessage('begun', '*');
            line.port1.onmessage = () => { said.textContent = performance.now(); if (performance.now() < until) line.port2.postMessage(0); else parent.postMessage('done', '*'); };
            line.port2.postMessage(0);
        };
        </script>",
    ),
    (
        "/pointed",
        "<title>Pointed</title><button style='height:60px' onmousedown='down()'>Press</button><a href=/there>Away</a><p id=said></p><script>
        const drawn = () => document.querySelectorAll('[aria-hidden=true]').length;
        let since = 0;
        new MutationObserver(() => { since = since || (drawn() ? performance.now() : 0); }).observe(document.documentElement, { childList: true, subtree: true });
        const down = () => { said.textContent = drawn() + ' ' + (since && performance.now() - since > 150 ? 'seen' : 'at once'); };
        document.querySelector('a').onmousedown = () => { sessionStorage.drawn = drawn(); };
        </script>",
    ),
    (
        "/payment",
        "<title>Payment</title><div style='height:1200px'>above</div><iframe src='http://localhost:PORT/pay' style='width:300px;height:200px;border:9px solid;margin-left:70px'></iframe>",
    ),
    (
        "/pay",
        "<title>Pay</title><style>body{margin:0;background:#fff}</style><div style='height:300px'></div><button aria-label='Pay now' style='border:0;border-radius:0;width:120px;height:40px;margin-left:30px;background:#0a0'></button>",
    ),
    (
        "/following",
        "<title>Following</title><style>body{margin:0}</style><button style='width:300px;height:80px' onclick='said.textContent=\"pressed\"'>Chased</button>
        <div id=lid aria-label=Lid style='position:absolute;left:500px;top:300px;width:40px;height:40px;background:#fdd' onclick='said.textContent=\"lid\"'></div><p id=said></p>
        <script>document.onmousemove = (event) => { lid.style.left = (event.clientX - 20) + 'px'; lid.style.top = (event.clientY - 20) + 'px'; };</script>",
    ),
    (
        "/dropping",
        "<title>Dropping</title><style>body{margin:0}div{position:absolute;width:120px;height:60px;background:#cde}</style>
        <div draggable=true role=button aria-label=Parcel style='left:20px;top:20px' ondragstart='event.dataTransfer.setData(\"text/plain\", \"parcel\")'>Parcel</div>
        <div id=box role=button aria-label=Box style='left:300px;top:20px' ondragover='cover(box); event.preventDefault()' ondrop='said.textContent += \"box\"'>Box</div>
        <div role=button aria-label=Slider style='left:20px;top:120px' onpointerdown='document.onpointermove = () => cover(rail)'>Slider</div>
        <div id=rail role=button aria-label=Rail style='left:300px;top:120px'>Rail</div>
        <div role=button aria-label=Ghostly style='left:20px;top:220px' onpointerdown='ghost(event)'>Ghostly</div>
        <div role=button aria-label=Home style='left:300px;top:220px'>Home</div>
        <p id=said style='margin-top:400px'></p><script>
        const cover = (over) => { if (over.lid) return; const lid = over.lid = document.createElement('div'); lid.textContent = 'Trap'; lid.id = 'trap'; lid.style.left = over.offsetLeft + 'px'; lid.style.top = over.offsetTop + 'px';
            lid.ondragover = (event) => event.preventDefault(); lid.ondrop = () => { said.textContent += 'trap'; }; lid.onpointerup = () => { said.textContent += 'trap'; }; document.body.append(lid); };
        const ghost = (down) => { const one = down.target.cloneNode(true), x = down.offsetX, y = down.offsetY; document.body.append(one); const to = (event) => { one.style.left = (event.clientX - x) + 'px'; one.style.top = (event.clientY - y) + 'px'; };
            to(down); document.onpointermove = to; document.onpointerup = () => { document.onpointermove = document.onpointerup = null; said.textContent += 'home'; }; };
        </script>",
    ),
    ("/other", "<title>Other</title>the person's own"),
];
