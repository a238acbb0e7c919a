"""Spanish."""

from __future__ import annotations

from .model import Calendar, Language, Numerals, People, Sentences, Words

WORDS = Words(
    "es",
    common="acaba anotado aprobación aún buscado cantidad comparado comprobado confirma"
    " confirmación confirmar confirmes conocido conseguido conseguí consultado contado"
    " cosas echado encontrado entendido eur explicado fueron gbp había has hemos id"
    " indicado intentado iva llamada localizado logré mencionado mirado nos nueva número"
    " os pdf podido probado procurado pudimos queda quedaron quedó quien recuperado"
    " relacionado resumido revisado según sido siendo texto titulado todavía traducido"
    " tratado url usd usted ustedes visto",
    begin="por_favor hola oye vale puedes podrías puede_usted me_puedes quiero quisiera "
    "necesito vamos_a ahora webbee",
    end="por_favor gracias para_mí ahora otra_vez vale",
    ask="muéstrame muestra enséñame dame dime lista qué_es cuál_es cuáles_son cómo_es qué",
    address="dirección correo email e-mail",
    negation="no nunca jamás nada nadie ningún ninguna ninguno sin tampoco ni",
    question="qué cuál cuáles quién quiénes dónde cuándo cómo cuánto cuánta cuántos cuántas",
    prohibition="no nunca jamás sin deja evita",
    greeting="hola buenos buenas días tardes noches saludos",
    thanks="gracias agradezco",
    yes="sí si vale claro ok okay confirmo confirmado acepto adelante hazlo dale correcto seguro",
    yes_filler="por favor lo la los las eso todo borra bórralo elimina elimínalo envía envíalo",
    no="no cancela cancelar para detente rechazo nunca ninguno ninguna olvídalo déjalo",
    no_filler="ahora espera lo la eso por favor gracias de ellos ellas nada importa",
    resume="continua continúa continuar sigue seguir adelante",
    undo="deshaz deshacer deshazlo revierte revertir anula anular",
    reference="el la lo los las ese esa eso este esta esto aquel aquella mismo misma mismos mismas"
    " anterior allí",
    went="funcionó funcionado salió salido resultó pasó ocurrió logrado",
    recency="yo nosotros acabo recién creé creado añadí añadido escribí guardé envié recibí",
    function="algún alguna ningún cualquier"
    " el la los las un una unos unas y o pero de del al a en con por para que es son ser"
    " está están estar fue era ha han haber he hay yo tú él ella nosotros me te se le les lo mi mis"
    " tu tus su sus nuestro nuestra este esta esto ese esa como más muy ya también si no favor"
    " quiero puedes muestra muéstrame dame todos todas tengo tienes tiene tenemos hacer algo",
    quantifier="todo toda todos todas cada algún alguna ninguno ambos ambas varios muchos pocos"
    " medio",
    plan="voy va vamos podría puede debería debe si cuando hasta después antes será",
    listing="estado lista contiene incluye veo ve ves aquí ahí hay muestra figuran figura"
    " aparecen aparece rastro existe existen registro registros"
    " búsqueda devolvió cuentas"
    " sale salen salido resultan resulta resultado constan consta trata suman suma sumando"
    " ascienden asciende cuento contabilizo total totalizan arroja arrojó devuelve"
    " encuentran encuentra coinciden coincide respuesta corta breve pocas palabras resumen"
    " sistema actualmente momento",
    either="incluido tomado usado dado llamado",
    about="unos unas aproximadamente cerca casi alrededor sobre poco aproximado redondeando",
    more="encima pasa pico supera más sobre mínimo"
    " pasan superan excede exceden rebasa rebasan sobrepasa",
    less="menos máximo bajo",
    average="promedio media medio",
    total="total suma conjunto",
    difference="diferencia cambio aumento descenso más menos barato caro faltan falta"
    " respectivamente",
    and_="y e",
    failure="falló error fallado fallido fracasó fracasado imposible pude pudo problema",
    recent="acabo acabamos acabado",
    trouble="problema problemas error errores inconveniente fallo",
    matter="encargo solicitud petición cambio cambios operación tarea acción proceso paso",
    settled="está bien",
    label="bajo campo columna casilla",
    happened="aplicado ejecutado efectivo aceptado completado procesado hecho éxito",
    unfinished="borrador cola espera rechazado denegado omitido rebotado bloqueado aplazado",
    cause="porque debido causa motivo",
    empty="vacía vacío vacías vacíos vaciado",
    done="cumplido cumplida tacharlo pasado ocurrido procesada procesado resuelto resuelta"
    " solucionado hecho listo"
    " completado terminado éxito funcionado funcionó realizado salió arreglado",
    limits="antes después despues hasta desde entre salvo excepto sin o además ademas dentro aparte"
    " tras pero aunque mientras sino",
    rest="además fuera mostrar más otros otras otro otra adicionales restantes demás"
    " omitido omitidos ocultos",
    possession="tu tus su sus tienes",
    drafting="escribe redacta traduce propón sugiere dame inventa dice acorta reescribe redáctame",
    effects={
        "send": "enviada publicado publicada enviar enviado envía envié enviada mandar mandado"
        " reenviar reenviado responder respondido notificar notificado invitar invitado",
        "delete": "suprimir suprimido borrar borrado borra borrada eliminar eliminado elimina"
        " eliminada quitar quitado vaciar vaciado",
        "create": "abrir abierto abierta creada crear creado crea creada añadir añadido agregar"
        " agregado agrega redactar redactado escribir escrito registrar registrado",
        "update": "actualizada ajustar ajustado fijar fijado establecer establecido establecida"
        " modificada cambiada"
        " actualizar actualizado actualizada cambiar cambiado modificar modificado editar"
        " editado renombrar corregir corregido reemplazar iniciar detener detenido",
        "move": "movida reprogramar reprogramado reprogramada trasladar trasladado"
        " mover movido archivar archivado transferir transferido aplazar aplazado",
        "save": "guardar guardado subir subido publicar publicado compartir compartido copiar"
        " copiado exportar importar descargar",
        "schedule": "programada reservada"
        " programar programado reservar reservado planificar agendar agendado",
        "close": "anular anulado anulada resolver resuelto resuelta cerrada cancelar cancelado"
        " cancelada cerrar cerrado completar completado terminar terminado aprobar aprobado aceptar"
        " aceptado rechazar rechazado marcar marcado desactivar activar bloquear",
        "pay": "colocar colocado colocada realizar realizado realizada efectuar efectuado contratar"
        " contratado contratada adquirir adquirido depositar depositado retirado pagada comprada"
        " ejecutar ejecutado pagar pagado reembolsar reembolsado comprar comprado vender vendido"
        " pedir cobrar cobrado firmar firmado",
    },
    plural_reference="estos estas esos esas todos todas ambos ambas",
    toward="le les él ella ellos ellas allí ahí mismo misma",
    clause="que",
    source="de",
    commands={
        "show": "muestra enseña lista mira di dame",
        "find": "busca encuentra",
        "read": "lee abre muestra",
        "send": "envía manda escribe",
        "reply": "responde contesta",
        "tell": "di avisa informa",
        "remind": "recuerda",
        "create": "añade agrega crea apunta anota pon guarda haz",
        "record": "apunta anota escribe",
        "delete": "borra elimina quita tira",
        "complete": "completa termina marca cierra tacha",
        "move": "mueve archiva",
        "mark": "marca",
        "pin": "fija",
        "change": "cambia actualiza pasa",
        "cancel": "cancela anula",
    },
    ability="puedes puede podrías sabes",
    help="hacer ayuda ayudar ayudarme",
    asks={
        "person": "quién quiénes",
        "date": "cuándo",
        "place": "dónde",
        "count": "cuánto cuánta cuántos cuántas",
        "which": "qué cuál cuáles",
    },
    objects={
        "message": "mensaje mensajes correo correos email",
        "task": "tarea tareas recordatorio recordatorios",
        "note": "nota notas",
        "file": "archivo archivos documento documentos adjunto adjuntos",
        "folder": "carpeta carpetas directorio",
        "event": "evento eventos reunión reuniones cita citas",
        "person": "contacto contactos persona personas pasajero pasajeros",
        "user": "usuario usuarios miembro miembros amigo amigos",
        "order": "pedido pedidos orden órdenes",
        "invoice": "factura facturas",
        "payment": "pago pagos transacción transacciones transferencia transferencias movimiento"
        " movimientos",
        "booking": "reserva reservas",
        "fare": "tarifa tarifas precio precios",
        "flight": "vuelo vuelos viaje viajes",
        "hotel": "hotel hoteles",
        "restaurant": "restaurante restaurantes",
        "car": "coche coches vehículo vehículos",
        "card": "tarjeta tarjetas",
        "stock": "acción acciones",
        "ticket": "incidencia incidencias ticket tickets billete",
        "post": "publicación publicaciones",
        "comment": "comentario comentarios respuesta respuestas",
        "review": "reseña reseñas opinión opiniones",
        "channel": "canal canales",
        "product": "producto productos artículo artículos",
        "account": "cuenta cuentas",
        "project": "proyecto proyectos",
        "photo": "foto fotos imagen",
        "room": "habitación habitaciones",
        "city": "ciudad ciudades",
        "airport": "aeropuerto aeropuertos",
        "company": "empresa empresas compañía compañías agencia agencias",
        "result": "resultado resultados registro registros",
    },
    states={
        "answer:yes": "sí",
        "answer:no": "no",
        "class:economy": "turista económica",
        "class:business": "business ejecutiva",
        "class:first": "primera",
        "life:open": "abierto abierta",
        "life:closed": "completado completada ejecutado cerrado cerrada resuelto",
        "life:pending": "pendiente",
        "life:cancelled": "cancelado cancelada anulado",
        "life:confirmed": "confirmado confirmada",
        "life:rejected": "rechazado rechazada",
        "money:paid": "pagado pagada",
        "money:unpaid": "impagado impagada",
        "seen:read": "leído leída",
        "mail:sent": "enviado enviada",
        "mail:received": "recibido recibida",
        "mail:draft": "borrador",
        "use:active": "activo activa",
        "use:inactive": "inactivo inactiva",
        "have:available": "disponible",
        "side:buy": "compra",
        "side:sell": "venta",
        "run:good": "exitoso exitosa correctamente",
        "run:bad": "fallido fallada",
        "level:normal": "normal",
        "level:low": "bajo baja",
        "level:medium": "medio media",
        "level:high": "alto alta",
        "level:urgent": "urgente",
    },
    ordinals={
        "1": "primero primera primer",
        "2": "segundo segunda",
        "3": "tercero tercera tercer",
        "4": "cuarto cuarta",
        "5": "quinto quinta",
        "-1": "último última",
    },
    units={
        "second": "segundo segundos seg",
        "minute": "minuto minutos min",
        "hour": "hora horas",
        "day": "día días noche noches",
        "week": "semana semanas",
        "month": "mes meses",
        "quarter": "trimestre trimestres",
        "year": "año años",
        "byte": "byte bytes",
        "kilobyte": "kb",
        "megabyte": "mb",
        "gigabyte": "gb",
        "terabyte": "tb",
        "gram": "gramo gramos",
        "kilogram": "kg kilo kilos kilogramo kilogramos",
        "metre": "metro metros",
        "kilometre": "km kilómetro kilómetros",
    },
    values={
        "unread": "nuevo nuevos leer",
        "done": "hecho hecha completado",
        "overdue": "vencido vencida",
        "open": "abierto abierta",
        "all": "todos todas",
        "high": "importante urgente",
        "drafts": "borrador borradores",
        "attachments": "adjunto adjuntos",
    },
)

SENTENCES: Sentences = {
    "receipt_done": "{what}: hecho",
    "receipt_failed": "{what}: ha fallado – {why}",
    "receipt_waiting": "{what}: espera su sí",
    "receipt_unknown": "{what}: sin respuesta, no se sabe si se ha hecho",
    "receipt_running": "{what}: en curso",
    "receipt_not_run": "{what}: no ejecutado – {why}",
    "looked_up": "consultado: {n}",
    "changed": "cambiado: {n}",
    "changed_nothing": "nada cambiado",
    "calls_failed": "fallido: {n}",
    "data_holds": "En los datos: {what}.",
    "hello": "¡Hola! Soy el pequeño ayudante que viene con Webbee, no "
    "un modelo de lenguaje. Prueba, por ejemplo: {examples}",
    "nothing_more": "No puedo hacer nada más aquí.",
    "not_understood": "No lo he entendido: solo soy el pequeño ayudante incluido, no un modelo de "
    "lenguaje. Conozco frases como estas: {examples}",
    "which_command": "Se puede entender de varias maneras. ¿A cuál te refieres: {examples}?",
    "which_record": "¿A cuál te refieres: {records}?",
    "which_is_not_shown": "No veo a cuál te refieres. Pídeme primero que lo muestre: {examples}",
    "no_apps": "Todavía no hay ninguna aplicación instalada, así que no puedo hacer nada.",
    "form_to_send": "Puede que no haya entendido cada palabra, así que todavía no he hecho nada. "
    "Aquí está el formulario para revisar y enviar: {what}",
    "form_send": "Enviar",
    "use_a_model": "Usar un modelo de lenguaje de verdad",
    "noted": "No he hecho nada. ¿Debo hacer algo, por ejemplo: {examples}?",
    "remembered": "De los turnos que recuerdo: {what}.",
    "welcome": "De nada.",
    "limit_of_requests": {
        "one": "Han sido muchas peticiones seguidas. Inténtelo de nuevo en {n} segundo.",
        "other": "Han sido muchas peticiones seguidas. Inténtelo de nuevo en {n} segundos.",
    },
    "limit_of_tokens": "Ha agotado lo que puede pedir hoy. Podrá seguir a medianoche (UTC).",
    "limit_of_all": "Entre todos han agotado lo que se puede pedir hoy. Podrán seguir a medianoche"
    " (UTC).",
    "gave_up": "No he podido entender qué hacer con eso. Dígalo de otra forma o con más precisión.",
    "still_to_do": "Aún sin ejecutar: {calls}.",
    "unfinished_rounds": "Aún no está todo hecho: eran demasiados pasos para un mensaje. Diga"
    " «sigue» y continúo. Hasta ahora:",
    "unfinished_tokens": "Aún no está todo hecho: se agotaron los tokens de un mensaje. Diga"
    " «sigue» y continúo. Hasta ahora:",
    "stopped": "Detenido, como pidió.",
    "unfinished_time": "Aún no está todo hecho: se acabó el tiempo de un mensaje. Diga «sigue»"
    " y continúo. Hasta ahora:",
    "unfinished_model": "Aún no está todo hecho: el modelo no ha respondido. Diga «sigue» y"
    " continúo. Hasta ahora:",
    "nothing_done": "De acuerdo, no se ha hecho nada.",
    "said_yes": "sí",
    "said_no": "no",
    "ask_delete": "¿Eliminar {what}?",
    "ask_send": "¿Enviar {what}?",
    "ask_create": "¿Crear {what}?",
    "ask_update": "¿Cambiar {what}?",
    "ask_move": "¿Mover {what}?",
    "card_ask": "Sí o no: ¿lo hago?",
    "card_ask_all": "Sí o no: ¿hago todo esto?",
    "card_several": {"one": "¿Hacer esto?", "other": "¿Hacer estas {n} cosas?"},
    "card_verb_all": "Hacerlo todo",
    "card_verb_delete": "Eliminar",
    "card_verb_send": "Enviar",
    "card_verb_create": "Crear",
    "card_verb_update": "Cambiar",
    "card_verb_move": "Mover",
    "being_answered": "Esa respuesta se está ejecutando.",
    "broke": "un error de la propia aplicación; quien la mantiene lo encuentra con el número {n}.",
    "unavailable": "El asistente no está disponible en este momento."
    " Inténtelo de nuevo en unos minutos.",
    "unanswered": "Una aplicación no ha respondido: no se sabe si se ha hecho. Compruébelo antes"
    " de pedirlo otra vez.",
    "incident": "Algo ha fallado por nuestra parte. Si se repite, indique el número {n} a quien"
    " administra el servicio.",
    "app_away": "Esta aplicación no está disponible: no se ha iniciado. Quien administra el"
    " servicio sabe por qué.",
    "value_unknown": "no se conoce un dato que necesita",
    "nothing_found": "No se ha encontrado nada.",
    "items": {"one": "{n} elemento", "other": "{n} elementos"},
    "and_more": {"one": "y {n} más", "other": "y {n} más"},
    "refused_missing": "falta «{field}»",
    "refused_long": "«{field}»: como máximo {limit} caracteres",
    "refused_short": "«{field}»: al menos {limit} caracteres",
    "refused_most": "«{field}»: como máximo {limit}",
    "refused_below": "«{field}»: menos de {limit}",
    "refused_least": "«{field}»: al menos {limit}",
    "refused_above": "«{field}»: más de {limit}",
    "refused_one_of": "«{field}»: uno de {limit}",
    "refused_number": "«{field}»: hace falta un número",
    "refused_other": "«{field}»: este valor no sirve",
    "label_id": "de cuál se trata",
    "label_ids": "de cuáles se trata",
    "label_to": "la dirección del destinatario",
    "label_body": "el texto",
    "label_text": "el texto",
    "label_title": "cómo llamarlo",
    "label_subject": "el asunto",
    "label_query": "qué buscar",
    "label_due": "la fecha",
    "oauth_ask_title": "¿Conectar {provider} con {app}?",
    "oauth_ask": "Se conectará para {user}. Siga solo si es usted y lo ha iniciado usted mismo hace"
    " un momento.",
    "oauth_go": "Conectar",
    "oauth_done_title": "Conectado",
    "oauth_done": "{what}. Puede cerrar esta página y volver al chat.",
    "oauth_failed_title": "No conectado",
    "oauth_over": "Este inicio de sesión ha terminado: ya se completó o empezó hace más de diez"
    " minutos. Vuelva al chat y empiece de nuevo.",
    "oauth_declined": "{provider} informa: {reason}. No se ha guardado nada. Vuelva al chat para"
    " empezar de nuevo.",
    "oauth_failed": "{reason}. No se ha guardado nada. Vuelva al chat y empiece de nuevo.",
}

PEOPLE = People(
    passport_keys="pasaporte",
    passport_words=("pasaporte", "pasaporte número"),
    identity_keys="dni nie nif curp rut cedula",
    identity_words=("dni", "nie", "nif", "curp", "rut", "cédula"),
    passwords="contraseña contraseñas clave",
    tokens="secreto",
    secret_words=(
        "contraseña",
        "clave",
        "clave api",
        "clave secreta",
        "código de acceso",
        "código de verificación",
        "código secreto",
    ),
    secret_links=("es", "ahora es", "era"),
    title_keys="título asunto nombre",
    given="josé maría jesús ángel sofía lucía andrés martín joaquín ramón rubén sergio raúl iván"
    " óscar adrián víctor álvaro ignacio gonzalo begoña rocío inmaculada pilar dolores encarnación"
    " montserrat josefa manuela cristina ángela mónica verónica noelia nuria yolanda esther alfonso"
    " emilio enrique guillermo jaime jorge julio mateo nicolás pablo tomás ximena fernanda"
    " guadalupe eduardo",
    surnames="garcía gonzález rodríguez fernández lópez martínez sánchez pérez gómez martín jiménez"
    " ruiz hernández díaz moreno muñoz álvarez romero alonso gutiérrez navarro torres domínguez"
    " vázquez ramos gil ramírez serrano blanco molina morales suárez ortega delgado castro ortiz"
    " rubio marín sanz núñez iglesias medina garrido cortés castillo santos lozano guerrero cano"
    " prieto méndez cruz herrera peña flores cabrera campos vega fuentes carrasco reyes caballero"
    " aguilar vargas quispe",
    not_names="acta actividad agenda archivo asunto aviso banco buenos calendario calle cita ciudad"
    " cliente clientes compra compras comida confirmación contrato correo cuenta curso datos día"
    " días documento documentos el empresa entrega envío equipo estado evento factura facturas"
    " fecha feliz gastos general grupo hola hoja hotel informe inicio lista los las la llamada"
    " mensaje mensajes mes mi nota notas nueva nuevo oferta oficina orden pago pagos pedido pedidos"
    " plan plaza precio presupuesto producto proyecto pruebas recibo recordatorio reserva resumen"
    " reunión revisión semana servicio sociedad tarea tareas tarjeta tienda trabajo una un venta"
    " ventas viaje y de del para con por banco hospital parque playa puente puerto torre"
    " universidad",
    place_leads="isla islas cabo monte río lago sierra puerto nuestra villa",
    honorifics="Sr Sra Srta Don Doña Señor Señora Señorita Estimado Estimada Querido Querida",
    greetings=("Hola", "Buenos días", "Buenas tardes", "Saludos", "Gracias", "Atentamente"),
    labels=(
        "nombre",
        "apellidos",
        "cliente",
        "remitente",
        "destinatario",
        "autor",
        "contacto",
        "responsable",
        "de",
        "para",
        "solicitante",
    ),
    links="y con de",
    nobody="ninguno ninguna desconocido desconocida anónimo nadie sin",
    roles="cliente clienta clientes remitente destinatario destinataria autor autora contacto"
    " contactos responsable empleado empleada trabajador solicitante propietario propietaria"
    " titular comprador compradora vendedor vendedora paciente alumno alumna profesor profesora"
    " médico conductor pasajero huésped invitado invitada participante participantes asistente"
    " asistentes organizador organizadora beneficiario beneficiaria persona personas candidato"
    " candidata firmante encargado encargada jefe gerente miembro creador asignado",
    sure_keys="apellido apellidos nombrecompleto nombreyapellidos primernombre",
    self_keys="usuario perfil persona",
    name_words="nombre nombres",
    part_words="completo primer segundo pila propio apellidos apellido",
    address_keys="para cco",
    never_keys="archivo fichero carpeta directorio proyecto producto artículo empresa compañía"
    " sociedad ciudad país calle lugar región departamento grupo equipo categoría usuario login"
    " columna tabla campo marca modelo dispositivo título evento servicio lista canal servidor"
    " dominio almacén cuenta campaña juego hotel edificio sala",
    phone_keys="teléfono teléfonos telf tfno móvil celular fijo fax whatsapp",
    phone_tails="número casa trabajo particular contacto",
    phone_words=(
        "llámame",
        "llámeme al",
        "mi número",
        "contactar al",
        "teléfono",
        "tel",
        "telf",
        "tfno",
        "móvil",
        "celular",
        "fax",
        "llame al",
        "llámame al",
    ),
    phone_links="número es",
)


LANGUAGE = Language(
    tag="es",
    stemmer="spanish",
    participles=r"[a-zñáéíóú]{2,}(?:[aií]d[oa]s?|é|í|ó|aron|ieron|amos)|(?:hech|puest"
    r"|dispuest|escrit|abiert"
    r"|resuelt|cubiert|dicho|vist|vuelt|devuelt)[oa]?s?",
    finite=r"[a-zñáéíóú]{2,}(?:é|í)",
    letters="ñ¿¡",
    before=r".+s",
    behind=r".+s",
    words=WORDS,
    people=PEOPLE,
    sentences=SENTENCES,
    regions=("ES", "MX", "AR", "CO", "CL", "PE"),
    currencies={
        "USD": "dólar dólares",
        "EUR": "euro euros",
        "GBP": "libra libras",
        "RUB": "rublo rublos",
        "JPY": "yen yenes",
        "CHF": "franco francos",
        "CNY": "yuan yuanes",
        "INR": "rupia rupias",
        "MXN": "peso pesos",
    },
    numerals=Numerals(
        library="es",
        scales={10**3: "mil", 10**6: "millón millones"},
        rough={"12": "docena docenas", "10": "decena decenas", "0.5": "medio media mitad"},
        one="un una uno",
        ordinal_endings="o a er ero era",
        percent="por_ciento porciento",
        group=".",
        decimal=",",
    ),
    calendar=Calendar(
        months={9: "setiembre"},
        days={"0": "hoy", "1": "mañana", "-1": "ayer", "-2": "anteayer"},
        inside="de del",
        until="al a hasta",
        together="y",
        at="las la",
        between="entre de desde",
        parts="cuarto media menos",
        ahead="en dentro_de",
        ago="hace",
        next="próximo próxima",
        last="pasado pasada último última",
        this="este esta",
        hour="h",
        morning="madrugada mañana",
        evening="tarde noche",
        noon="mediodía",
        midnight="medianoche",
        month_lead="en",
        day_suffix="o",
    ),
)
